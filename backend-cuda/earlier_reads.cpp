#include "backend-cuda/earlier_reads.h"

#include "ir/op_semantics.h"
#include "ir/program_index.h"

#include <algorithm>

namespace mscclc::cuda {

namespace {

using ir::Op;

/// Finds all operations that reads may precede. Follows each queue and barrier once. Signals are not counted: a read
/// that precedes one signal of a queue counts as preceding all waits on it.
class EarlierReadsSearch {
public:
  explicit EarlierReadsSearch(const ir::Program &program)
      : index_(program), first_(index_.numBlocks()), sends_(index_.numBlocks()),
        takers_(index_.numQueues() + index_.numBarriers()), passed_(takers_.size(), false) {}

  void run() {
    for (std::uint32_t block = 0; block < index_.numBlocks(); ++block)
      first_[block] = index_.ops(block).ops.size();
    for (std::uint32_t block = 0; block < index_.numBlocks(); ++block)
      collect(block);
    while (!changed_.empty()) {
      const std::uint32_t block = changed_.back();
      changed_.pop_back();
      std::vector<Send> &sends = sends_[block]; // in the block's order; sends that were followed are removed
      while (!sends.empty() && sends.back().op >= first_[block]) {
        const std::uint32_t to = sends.back().to;
        sends.pop_back();
        pass(to);
      }
    }
  }
  std::size_t first(std::uint32_t rank, std::size_t block) const {
    return first_[index_.block(rank, static_cast<std::uint32_t>(block))];
  }

private:
  struct Send {
    std::size_t op;
    std::uint32_t to; ///< number of a queue, or of a barrier; barriers follow the queues
  };
  struct Taker {
    std::uint32_t block;
    std::size_t after; ///< the first operation that comes after the wait
  };

  void collect(std::uint32_t block) {
    const ir::ThreadBlock &code = index_.ops(block);
    std::size_t bodyBegin = 0, bodyEnd = 0; // body of the last pipeline, whose operations repeat
    for (std::size_t o = 0; o < code.ops.size(); ++o) {
      const Op &op = code.ops[o];
      if (op.kind == ir::OpKind::Pipeline) {
        bodyBegin = o + 1;
        bodyEnd = bodyBegin + op.bodySize;
      }
      const std::size_t after = o < bodyEnd ? bodyBegin : o + 1;
      if (!code.srcs(op).empty())
        lower(block, after);
      if (op.kind == ir::OpKind::Barrier) {
        const std::uint32_t barrier = index_.numQueues() + index_.barrierOf(index_.rankOf(block), op.imm);
        sends_[block].push_back({o, barrier});
        takers_[barrier].push_back({block, after});
      }
      if (!ir::sends(op.kind) && !ir::takes(op.kind))
        continue;
      for (const std::uint32_t id : code.idsOf(op)) {
        const std::uint32_t queue = index_.queue(index_.rankOf(block), op, id);
        if (ir::takes(op.kind))
          takers_[queue].push_back({block, after});
        else if (queue != ir::none)
          sends_[block].push_back({o, queue});
      }
    }
  }

  void lower(std::uint32_t block, std::size_t first) {
    if (first >= first_[block])
      return;
    first_[block] = first;
    changed_.push_back(block);
  }
  void pass(std::uint32_t to) {
    if (passed_[to])
      return;
    passed_[to] = true;
    for (const Taker &taker : takers_[to])
      lower(taker.block, taker.after);
  }

  const ir::ProgramIndex index_;
  std::vector<std::size_t> first_; ///< by block
  std::vector<std::vector<Send>> sends_;
  std::vector<std::vector<Taker>> takers_;
  std::vector<bool> passed_;
  std::vector<std::uint32_t> changed_;
};

} // namespace

EarlierReads::EarlierReads(const ir::Program &program) {
  EarlierReadsSearch walk(program);
  walk.run();
  for (std::uint32_t rank = 0; rank < program.ranks.size(); ++rank) {
    first_.emplace_back();
    for (std::size_t block = 0; block < program.ranks[rank].blocks.size(); ++block)
      first_.back().push_back(walk.first(rank, block));
  }
}

} // namespace mscclc::cuda
