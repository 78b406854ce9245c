#include "compiler/outputs/dsl/order.h"

#include "compiler/outputs/dsl/no_source.h"

#include <algorithm>
#include <set>

namespace mscclc::dsl {
namespace {

using ir::Op;
using ir::OpKind;

class Orderer {
public:
  explicit Orderer(const ir::Rank &rank) : rank_(rank), heads_(rank.blocks.size(), 0) {
    for (const ir::ThreadBlock &block : rank.blocks)
      ends_.push_back(static_cast<std::uint32_t>(block.ops.size()));
    for (std::uint32_t b = 0; b < rank.blocks.size(); ++b)
      for (const Op &op : rank.blocks[b].ops)
        if (op.kind == OpKind::Barrier) {
          if (op.imm >= barriers_.size())
            barriers_.resize(op.imm + 1);
          barriers_[op.imm].insert(b);
        }
  }

  std::vector<Event> run() {
    if (!std::ranges::all_of(barriers_, [](const auto &blocks) { return !blocks.empty(); }) ||
        std::set(barriers_.begin(), barriers_.end()).size() != barriers_.size())
      throw NoSource{"two barriers of the same thread blocks"};
    if (const auto alone = std::ranges::find(barriers_, 1u, &std::set<std::uint32_t>::size); alone != barriers_.end())
      throw NoSource{"a barrier of thread block " + std::to_string(*alone->begin()) +
                     " alone, which the language makes a nop of"};
    std::vector<std::uint32_t> all(heads_.size());
    for (std::uint32_t b = 0; b < all.size(); ++b)
      all[b] = b;
    if (!sweep(all)) {
      const std::uint32_t b = *std::ranges::find_if(all, [this](std::uint32_t block) { return !atEnd(block); });
      throw NoSource{"thread block " + std::to_string(b) + ", operation " + std::to_string(heads_[b]) + " (" +
                     std::string(toString(headOf(b).kind)) + "), which no order of calls reaches"};
    }
    if (numRemotes_ != rank_.remoteBuffers.size())
      throw NoSource{"remote buffers that no operation uses"};
    return std::move(events_);
  }

private:
  const Op &headOf(std::uint32_t block) const { return rank_.blocks[block].ops[heads_[block]]; }
  bool atEnd(std::uint32_t block) const { return heads_[block] == ends_[block]; }

  /// Emits operations of `blocks` until no further one is possible. Returns true if all of `blocks` reached their ends.
  bool sweep(const std::vector<std::uint32_t> &blocks) {
    for (bool moved = true; moved;) {
      moved = false;
      for (const std::uint32_t block : blocks) {
        bool together = false;
        while (!together && !atEnd(block) && emit(block, blocks, together))
          moved = true;
        if (together)
          break; // continues with the first of the blocks
      }
    }
    return std::ranges::all_of(blocks, [&](std::uint32_t block) { return atEnd(block); });
  }

  /// Emits the next operation of `block`. Returns false if that is not possible yet. Sets `together` if the operation
  /// is also one of other blocks.
  bool emit(std::uint32_t block, const std::vector<std::uint32_t> &among, bool &together) {
    const Op &op = headOf(block);
    if (op.kind == OpKind::Pipeline)
      return emitLoop(block, among, together);
    Event event{Event::Kind::Call, block, heads_[block]};
    if (op.kind == OpKind::Barrier)
      event.blocks = blocksOfBarrier(op, among);
    else if (op.groupSize != 0)
      event.blocks = blocksOfGroup(block, op, among);
    if ((op.kind == OpKind::Barrier || op.groupSize != 0) && event.blocks.empty())
      return false;
    if (op.kind == OpKind::Barrier && op.imm > numBarriers_)
      return false;
    if (!takeRemotes(block, op))
      return false;
    if (op.kind == OpKind::Barrier)
      numBarriers_ = std::max(numBarriers_, static_cast<std::uint32_t>(op.imm) + 1);
    if (event.blocks.empty()) {
      ++heads_[block];
    } else {
      event.block = event.blocks[0];
      event.op = heads_[event.block];
      for (const std::uint32_t other : event.blocks)
        ++heads_[other];
      together = event.blocks.size() > 1;
    }
    events_.push_back(std::move(event));
    return true;
  }

  /// Gives the remote buffers of `op` their numbers. Returns false if a buffer with a smaller number must be used
  /// first.
  bool takeRemotes(std::uint32_t block, const Op &op) {
    std::uint32_t known = numRemotes_;
    for (const ir::Chunk &chunk : rank_.blocks[block].operands(op))
      if (chunk.space == ir::ChunkSpace::Remote) {
        if (chunk.id > known)
          return false;
        known = std::max(known, chunk.id + 1);
      }
    numRemotes_ = known;
    return true;
  }

  /// Returns the blocks of a barrier; empty if some of them have not reached it yet.
  std::vector<std::uint32_t> blocksOfBarrier(const Op &op, const std::vector<std::uint32_t> &among) const {
    const std::set<std::uint32_t> &all = barriers_[op.imm];
    for (const std::uint32_t block : all)
      if (std::ranges::find(among, block) == among.end() || atEnd(block) || headOf(block).kind != OpKind::Barrier ||
          headOf(block).imm != op.imm)
        return {};
    return {all.begin(), all.end()};
  }

  bool isSliceOfSame(std::uint32_t block, const Op &op, std::uint32_t other) const {
    if (atEnd(other))
      return false;
    const Op &slice = headOf(other);
    const auto ids = [&](std::uint32_t b, const Op &o) { return rank_.blocks[b].idsOf(o); };
    return slice.kind == op.kind && slice.groupSize == op.groupSize && slice.channelType == op.channelType &&
           slice.reduceOp == op.reduceOp && slice.numSrcs == op.numSrcs &&
           std::ranges::equal(rank_.blocks[block].operands(op), rank_.blocks[other].operands(slice)) &&
           std::ranges::equal(ids(block, op), ids(other, slice));
  }

  /// Returns the blocks of a thread-block group, ordered by their slices; empty if some have not reached the operation
  /// yet.
  std::vector<std::uint32_t> blocksOfGroup(std::uint32_t block, const Op &op,
                                           const std::vector<std::uint32_t> &among) const {
    if (op.groupSize > among.size())
      return {};
    constexpr std::uint32_t none = ~std::uint32_t{0};
    std::vector<std::uint32_t> found(op.groupSize, none);
    found[op.groupIndex] = block;
    for (const std::uint32_t other : among)
      if (other != block && isSliceOfSame(block, op, other) && found[headOf(other).groupIndex] == none)
        found[headOf(other).groupIndex] = other;
    if (std::ranges::find(found, none) != found.end())
      found.clear();
    return found;
  }

  /// Emits a pipeline for `block` alone. If that is not possible, emits it for all blocks that have reached an equal
  /// pipeline.
  bool emitLoop(std::uint32_t block, const std::vector<std::uint32_t> &among, bool &together) {
    if (emitLoopIn({block}, block))
      return true;
    std::vector<std::uint32_t> blocks;
    for (const std::uint32_t other : among)
      if (!atEnd(other) && headOf(other).kind == OpKind::Pipeline && headOf(other).imm == headOf(block).imm &&
          headOf(other).count == headOf(block).count)
        blocks.push_back(other);
    return together = blocks.size() > 1 && emitLoopIn(blocks, block);
  }

  bool emitLoopIn(const std::vector<std::uint32_t> &blocks, std::uint32_t block) {
    const auto heads = heads_, ends = ends_;
    const std::uint32_t remotes = numRemotes_, barriers = numBarriers_;
    const std::size_t size = events_.size();
    events_.push_back({Event::Kind::LoopBegin, block, heads_[block]});
    for (const std::uint32_t b : blocks) {
      ends_[b] = heads_[b] + 1 + headOf(b).bodySize;
      ++heads_[b];
    }
    const bool done = sweep(blocks);
    if (!done) {
      heads_ = heads;
      numRemotes_ = remotes;
      numBarriers_ = barriers;
      events_.resize(size);
    } else {
      events_.push_back({Event::Kind::LoopEnd, block, 0});
    }
    ends_ = ends;
    return done;
  }

  const ir::Rank &rank_;
  std::vector<std::uint32_t> heads_, ends_; ///< for each block, its next operation and the end of its operations
  std::vector<std::set<std::uint32_t>> barriers_;
  std::uint32_t numRemotes_ = 0, numBarriers_ = 0; ///< how many remote buffers and barriers have numbers so far
  std::vector<Event> events_;
};

} // namespace

std::vector<Event> orderCalls(const ir::Program &program, std::uint32_t rank) {
  return Orderer(program.ranks[rank]).run();
}

} // namespace mscclc::dsl
