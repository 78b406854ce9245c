#include "passes/verify/loops.h"

#include "ir/containers.h"
#include "ir/cursor.h"
#include "ir/op_memory.h"
#include "ir/op_semantics.h"

#include <algorithm>
#include <map>

namespace mscclc::passes::proof {

namespace {

constexpr std::uint64_t mostLead = 256; ///< the most iterations that are run in addition to the first three

/// The uses of a queue in one pipeline of a block. `times` is the number of uses in each iteration. `before` is the
/// number of the block's uses outside of pipelines that come before this pipeline.
struct LoopUse {
  ir::OpRef first;
  std::uint32_t header = none;
  std::uint64_t unit = 0;
  std::uint32_t numChunks = 0;
  std::uint64_t times = 0, before = 0;
  bool pairs(const LoopUse &other) const {
    return unit == other.unit && numChunks == other.numChunks && times == other.times;
  }
};

/// All uses of a queue by one block, on one side: its signals or its waits.
struct Side {
  std::uint32_t block = none;
  std::vector<LoopUse> loops;
  std::uint64_t outside = 0;
  const LoopUse *loop(std::size_t i) const { return i < loops.size() ? &loops[i] : nullptr; }
};

/// The blocks that signal a queue, that wait on it, or that arrive at a barrier, in the order of their numbers.
using Sides = std::vector<Side>;

void count(Sides &sides, std::uint32_t block, ir::OpRef at, const ir::Op *header, std::uint32_t headerIndex) {
  if (sides.empty() || sides.back().block != block)
    sides.push_back({block, {}, 0});
  Side &side = sides.back();
  if (!header) {
    ++side.outside;
    return;
  }
  if (side.loops.empty() || side.loops.back().header != headerIndex)
    side.loops.push_back({at, headerIndex, header->imm, header->count, 0, side.outside});
  ++side.loops.back().times;
}

class LoopScan {
public:
  explicit LoopScan(const ProgramIndex &index)
      : index_(index), waiting_(index.numBlocks() + index.numRanks()), signals_(index.numQueues()),
        waits_(index.numQueues()), meets_(index.numBarriers()) {}

  LoopPairs run() {
    for (std::uint32_t b = 0; b < index_.numBlocks(); ++b)
      scanBlock(b);
    for (std::uint32_t q = 0; q < index_.numQueues(); ++q)
      pairQueue(q);
    for (std::uint32_t m = 0; m < index_.numBarriers(); ++m)
      pairBarrier(m);
    std::map<std::uint32_t, LoopPairs> sumsOf; // [number of a set in waiting_]
    for (const Largest &largest : largest_) {
      LoopPairs &sum = sumsOf[waiting_.find(largest.block)];
      sum.forward += largest.forward;
      sum.backward += largest.backward;
    }
    LoopPairs most;
    for (const auto &[set, sums] : sumsOf)
      if (sums.iterations() > most.iterations()) {
        most.forward = sums.forward;
        most.backward = sums.backward;
      }
    if (!unpaired_ && most.iterations() > 3 + mostLead)
      unpaired_ = ahead_;
    most.unpaired = std::move(unpaired_);
    return most;
  }

private:
  void scanBlock(std::uint32_t b) {
    const ir::ThreadBlock &code = index_.ops(b);
    const std::uint32_t rank = index_.rankOf(b);
    ir::forEachOp(code, [&](std::uint32_t o, std::uint32_t header) {
      const ir::Op &op = code.ops[o];
      const ir::Op *loop = header == none ? nullptr : &code.ops[header];
      const ir::OpRef at = index_.place(b, o);
      if (op.kind == ir::OpKind::Barrier)
        count(meets_[index_.barrierOf(rank, op.imm)], b, at, loop, header);
      if (ir::isPacketOp(op.kind)) // a block that reads packets waits for the blocks that write them
        ir::forEachMemory(index_.program, rank, code, op, [&](const ir::MemoryPiece &piece) {
          if (piece.isPacket())
            waiting_.join(b, index_.numBlocks() + piece.rank);
        });
      if (!ir::takes(op.kind) && !ir::sends(op.kind))
        return;
      for (const std::uint32_t id : code.idsOf(op))
        if (const std::uint32_t queue = index_.queue(rank, op, id); queue != none)
          count((ir::takes(op.kind) ? waits_ : signals_)[queue], b, at, loop, header);
    });
  }

  static const LoopUse *anyLoop(const Sides &sides) {
    for (const Side &side : sides)
      if (!side.loops.empty())
        return &side.loops[0];
    return nullptr;
  }

  void fault(const LoopUse &use, std::string words) {
    if (!unpaired_)
      unpaired_ = UnpairedLoop{use.first, {use.first.rank, use.first.block, use.header}, std::move(words)};
  }

  void pairQueue(std::uint32_t queue) {
    const Sides &signals = signals_[queue], &waits = waits_[queue];
    for (const Sides *sides : {&signals, &waits})
      for (const Side &side : *sides)
        waiting_.join(side.block, (signals.empty() ? waits : signals)[0].block);
    const LoopUse *some = anyLoop(signals) ? anyLoop(signals) : anyLoop(waits);
    if (!some)
      return;
    const std::string name = queue < index_.numChannels() ? index_.describeChannel(queue)
                                                          : index_.describeSemaphore(queue - index_.numChannels());
    for (const Sides *sides : {&signals, &waits})
      if (sides->size() > 1)
        return fault(*some, name + " is " + (sides == &signals ? "signalled" : "waited on") + " by thread blocks " +
                                std::to_string(index_.idOf((*sides)[0].block)) + " and " +
                                std::to_string(index_.idOf((*sides)[1].block)));
    const Side nobody, &from = signals.empty() ? nobody : signals[0], &to = waits.empty() ? nobody : waits[0];
    std::uint64_t forward = 0, backward = 0;
    for (std::size_t i = 0; i < std::max(from.loops.size(), to.loops.size()); ++i) {
      const LoopUse *give = from.loop(i), *take = to.loop(i);
      if (!give || !take || !give->pairs(*take))
        return fault(give ? *give : *take, name + " is " + timesIn(give, "signalled") + " and " +
                                               timesIn(take, "waited on") + " in the pipelines that meet there");
      const std::uint64_t credits = initialOf(queue) + give->before;
      std::uint64_t &most = credits > take->before ? forward : backward;
      most = std::max(most, displacement(credits, take->before, *take, name));
    }
    largest_.push_back({from.block, forward, backward});
  }

  /// Pairs the blocks of a barrier by rounds. If a block has more rounds before its pipelines, they are that many
  /// rounds behind.
  void pairBarrier(std::uint32_t number) {
    const Sides &meets = meets_[number];
    for (const Side &side : meets)
      waiting_.join(side.block, meets[0].block);
    const LoopUse *some = anyLoop(meets);
    if (!some)
      return;
    const std::string name = "barrier " + std::to_string(index_.barrier(number).id) + " of rank " +
                             std::to_string(index_.barrier(number).rank);
    std::size_t loops = 0;
    for (const Side &side : meets)
      loops = std::max(loops, side.loops.size());
    std::uint64_t backward = 0;
    for (std::size_t i = 0; i < loops; ++i) {
      const LoopUse *first = meets[0].loop(i);
      std::uint64_t least = first ? first->before : 0, most = least;
      for (const Side &side : meets) {
        const LoopUse *other = side.loop(i);
        if (!first || !other || !first->pairs(*other))
          return fault(first   ? *first
                       : other ? *other
                               : *some,
                       name + " is " + timesIn(first, "met") + " and " + timesIn(other, "met") +
                           " in the pipelines that meet there");
        least = std::min(least, other->before);
        most = std::max(most, other->before);
      }
      backward = std::max(backward, displacement(least, most, *first, name));
    }
    largest_.push_back({meets[0].block, 0, backward});
  }

  static std::string timesIn(const LoopUse *loop, const std::string &verb) {
    if (!loop)
      return "never " + verb;
    return verb + " " + ir::plural(loop->times, "time") + " for each " + ir::plural(loop->unit, "byte") + " of " +
           ir::plural(loop->numChunks, "chunk");
  }

  std::uint64_t initialOf(std::uint32_t queue) const {
    if (queue < index_.numChannels())
      return 0;
    std::uint32_t semaphore = queue - index_.numChannels(), rank = 0;
    while (semaphore >= index_.program.ranks[rank].semaphores.size())
      semaphore -= static_cast<std::uint32_t>(index_.program.ranks[rank++].semaphores.size());
    return index_.program.ranks[rank].semaphores[semaphore].initialValue;
  }

  /// Returns by how many iterations two paired pipelines are displaced. Before them, `given` signals were sent, and
  /// `taken` waits were done.
  std::uint64_t displacement(std::uint64_t given, std::uint64_t taken, const LoopUse &loop, const std::string &name) {
    const std::uint64_t apart = std::max(given, taken) - std::min(given, taken);
    const std::uint64_t iterations = apart / loop.times + (apart % loop.times != 0);
    if (iterations > mostApart_) {
      mostApart_ = iterations;
      ahead_ = UnpairedLoop{loop.first,
                            {loop.first.rank, loop.first.block, loop.header},
                            name + " lets its pipelines be " + std::to_string(iterations) + " iterations apart"};
    }
    return iterations;
  }

  struct Largest {
    std::uint32_t block;
    std::uint64_t forward, backward;
  };
  const ProgramIndex &index_;
  ir::DisjointSets<> waiting_; ///< sets that wait for each other; elements: blocks, then the packets of each rank
  std::vector<Sides> signals_, waits_; ///< [queue]
  std::vector<Sides> meets_;           ///< [barrier]
  std::uint64_t mostApart_ = 0;
  std::vector<Largest> largest_;
  std::optional<UnpairedLoop> unpaired_, ahead_;
};

} // namespace

LoopPairs pairLoops(const ProgramIndex &index) {
  return LoopScan(index).run();
}

} // namespace mscclc::passes::proof
