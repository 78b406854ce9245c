#include "passes/verify/sizes.h"

#include "ir/cursor.h"
#include "ir/op_semantics.h"

#include <algorithm>
#include <map>

namespace mscclc::passes::proof {

namespace {

constexpr std::uint32_t mostLoops = 8; ///< the most loops of a block, because counts are kept for each section

class SectionScan {
public:
  explicit SectionScan(const ProgramIndex &index) : index_(index) {}

  bool run() {
    std::uint32_t loops = 0;
    for (std::uint32_t b = 0; b < index_.numBlocks(); ++b)
      loops = std::max(loops, countLoops(index_.ops(b)));
    if (loops > mostLoops)
      return false;
    sections_ = 2 * loops + 1;
    const std::size_t queues = index_.numQueues();
    for (auto &side : ends_)
      side.assign(queues, none);
    balance_.assign(queues * sections_, 0);
    for (std::uint32_t b = 0; b < index_.numBlocks(); ++b)
      if (!scanBlock(b))
        return false;
    return std::all_of(balance_.begin(), balance_.end(), [](std::int64_t n) { return n == 0; });
  }

private:
  static std::uint32_t countLoops(const ir::ThreadBlock &code) {
    std::uint32_t loops = 0;
    for (const ir::Op &op : code.ops)
      loops += op.kind == ir::OpKind::Pipeline;
    return loops;
  }

  bool scanBlock(std::uint32_t b) {
    const ir::ThreadBlock &code = index_.ops(b);
    const std::uint32_t rank = index_.rankOf(b);
    std::map<std::uint64_t, std::vector<std::uint64_t>> joined; // [barrier][section]
    std::uint32_t section = 0;
    const bool looksGood = ir::forEachOp(code, [&](std::uint32_t o, std::uint32_t header) {
      const ir::Op &op = code.ops[o];
      if (op.kind == ir::OpKind::Pipeline) {
        section += op.bodySize != 0 ? 1 : 2;
        return sameLoop(op);
      }
      if (ir::isPacketOp(op.kind) || (header != none && !wholeOperands(code, op)))
        return false;
      if (op.kind == ir::OpKind::Barrier) {
        auto &counts = joined[op.imm];
        counts.resize(sections_);
        ++counts[section];
      } else if (!scanSync(b, rank, op, section)) {
        return false;
      }
      section += header != none && o == header + code.ops[header].bodySize;
      return true;
    });
    return looksGood && std::all_of(joined.begin(), joined.end(), [&](const auto &barrier) {
             return barriers_.try_emplace({rank, barrier.first}, barrier.second).first->second == barrier.second;
           });
  }

  bool sameLoop(const ir::Op &header) {
    if (!header_)
      header_ = &header;
    return header.imm == header_->imm && header.count == header_->count;
  }

  /// True if each iteration accesses one slice of every operand, and each slice is accessed by one iteration.
  bool wholeOperands(const ir::ThreadBlock &code, const ir::Op &op) const {
    const auto operands = code.operands(op);
    return operands.empty() ||
           (op.groupSize <= 1 && std::all_of(operands.begin(), operands.end(),
                                             [&](const ir::Chunk &chunk) { return chunk.size == header_->count; }));
  }

  bool scanSync(std::uint32_t b, std::uint32_t rank, const ir::Op &op, std::uint32_t section) {
    const bool waits = ir::takes(op.kind);
    if (!waits && !ir::sends(op.kind))
      return true;
    for (const std::uint32_t id : index_.ops(b).idsOf(op)) {
      const std::uint32_t queue = index_.queue(rank, op, id);
      if (queue == none)
        return false;
      std::uint32_t &end = ends_[waits][queue];
      if (end != none && end != b)
        return false;
      end = b;
      balance_[std::size_t{queue} * sections_ + section] += waits ? -1 : 1;
    }
    return true;
  }

  const ProgramIndex &index_;
  const ir::Op *header_ = nullptr; ///< header of the first pipeline
  std::uint32_t sections_ = 0;
  std::vector<std::uint32_t> ends_[2];                                                     ///< [waits][queue]: block
  std::vector<std::int64_t> balance_;                                                      ///< [queue][section]
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<std::uint64_t>> barriers_; ///< [rank, id][section]
};

} // namespace

IterationSizes iterationSizes(const ProgramIndex &index, const LoopRates &rates, bool exhaustive) {
  IterationSizes sizes;
  sizes.isAnyNumber = !rates.empty() && !exhaustive && !rates.wraps() && SectionScan(index).run();
  if (rates.empty() || sizes.isAnyNumber) {
    sizes.all.emplace_back(rates);
    return sizes;
  }
  LoopPairs pairs = pairLoops(index);
  const std::uint64_t iterations = pairs.unpaired ? unpairedIterations : pairs.iterations();
  for (const std::uint64_t length : rates.lengths(index.program, iterations, pairs.backward != 0))
    sizes.all.emplace_back(index, rates, length);
  std::ranges::reverse(sizes.all);
  sizes.unpaired = std::move(pairs.unpaired);
  return sizes;
}

bool chunksMove(const ir::Program &program) {
  const auto [least, most] = unitsAllowed(program);
  return least < most &&
         std::ranges::any_of(program.ranks, [](const ir::Rank &rank) { return rank.scratchChunks != 0; });
}

} // namespace mscclc::passes::proof
