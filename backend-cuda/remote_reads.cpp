#include "backend-cuda/remote_reads.h"

#include "ir/op_semantics.h"
#include "ir/program_index.h"

#include <algorithm>

namespace mscclc::cuda {

namespace {

using ir::Op;

/// Goes backwards from the remote reads to all operations that they may follow. Each queue and barrier is passed once.
/// It passes on the reads that its first taker can see, because signals are not counted.
class Walk {
public:
  explicit Walk(const ir::Program &program)
      : index_(program), horizon_(index_.numBlocks(), 0), takes_(index_.numBlocks()), next_(index_.numBlocks(), 0),
        senders_(index_.numQueues() + index_.numBarriers()), passed_(senders_.size(), false) {}

  void run() {
    for (std::uint32_t block = 0; block < index_.numBlocks(); ++block)
      collect(block);
    while (!changed_.empty()) {
      const std::uint32_t block = changed_.back();
      changed_.pop_back();
      while (next_[block] < takes_[block].size() && takes_[block][next_[block]].op < horizon_[block])
        pass(takes_[block][next_[block]++].from);
    }
  }
  std::size_t horizon(std::uint32_t rank, std::size_t block) const {
    return horizon_[index_.block(rank, static_cast<std::uint32_t>(block))];
  }

private:
  struct Take {
    std::size_t op;
    std::uint32_t from; ///< number of a queue, or of a barrier; barriers follow the queues
  };
  struct Sender {
    std::uint32_t block;
    std::size_t before; ///< the operations that the signal follows
  };

  static bool readsRemotely(const ir::ThreadBlock &block, const Op &op) {
    return std::ranges::any_of(block.srcs(op), [](const ir::Chunk &source) { return !ir::isLocal(source.space); });
  }

  void collect(std::uint32_t block) {
    const ir::ThreadBlock &code = index_.ops(block);
    std::size_t bodyEnd = 0; // end of the body of a pipeline, whose operations repeat
    for (std::size_t o = 0; o < code.ops.size(); ++o) {
      const Op &op = code.ops[o];
      if (op.kind == ir::OpKind::Pipeline)
        bodyEnd = o + 1 + op.bodySize;
      const std::size_t before = std::max(o, bodyEnd);
      if (readsRemotely(code, op))
        raise(block, before);
      if (op.kind == ir::OpKind::Barrier)
        meet(block, o, before, index_.numQueues() + index_.barrierOf(index_.rankOf(block), op.imm));
      if (!ir::sends(op.kind) && !ir::takes(op.kind))
        continue;
      for (const std::uint32_t id : code.idsOf(op)) {
        const std::uint32_t queue = index_.queue(index_.rankOf(block), op, id);
        if (ir::takes(op.kind))
          takes_[block].push_back({o, queue});
        else if (queue != ir::none)
          senders_[queue].push_back({block, before});
      }
    }
  }

  void meet(std::uint32_t block, std::size_t op, std::size_t before, std::uint32_t barrier) {
    takes_[block].push_back({op, barrier});
    senders_[barrier].push_back({block, before});
  }
  void raise(std::uint32_t block, std::size_t before) {
    if (before <= horizon_[block])
      return;
    horizon_[block] = before;
    changed_.push_back(block);
  }
  void pass(std::uint32_t from) {
    if (passed_[from])
      return;
    passed_[from] = true;
    for (const Sender &sender : senders_[from])
      raise(sender.block, sender.before);
  }

  const ir::ProgramIndex index_;
  std::vector<std::size_t> horizon_;     ///< by block
  std::vector<std::vector<Take>> takes_; ///< the takes of each block, in its order
  std::vector<std::size_t> next_;        ///< each block's first take that was not passed yet
  std::vector<std::vector<Sender>> senders_;
  std::vector<bool> passed_;
  std::vector<std::uint32_t> changed_;
};

} // namespace

RemoteReads::RemoteReads(const ir::Program &program) {
  Walk walk(program);
  walk.run();
  for (std::uint32_t rank = 0; rank < program.ranks.size(); ++rank) {
    horizon_.emplace_back();
    for (std::size_t block = 0; block < program.ranks[rank].blocks.size(); ++block)
      horizon_.back().push_back(walk.horizon(rank, block));
  }
}

} // namespace mscclc::cuda
