#include "backend-cuda/alias_order.h"

#include "backend-cuda/block_order.h"
#include "ir/memory_map.h"

#include <algorithm>
#include <limits>

namespace mscclc::cuda {

namespace {

using ir::Op;

class FenceMarker {
public:
  FenceMarker(const ir::Program &program, std::uint32_t rank, const ir::ThreadBlock &block,
              const std::vector<char> &syncBefore, std::vector<char> &fenceBefore)
      : program_(program), rank_(rank), block_(block), syncBefore_(syncBefore), fenceBefore_(fenceBefore) {}

  /// Returns true if accesses by multicast to the rank's own memory are not fenced at the end.
  bool run() {
    constexpr std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
    for (const ir::BufferKind buffer : {ir::BufferKind::Input, ir::BufferKind::Output, ir::BufferKind::Scratch})
      accesses_.push_back({rank_, {buffer, 0, all}, false, true, 0});
    forEachInOrder(block_, [&](std::size_t o) { visit(o); });
    ++phase_; // the block's threads meet at its end
    return std::ranges::any_of(accesses_, [&](const Access &access) {
      return access.multicast && access.rank == rank_ && access.fenced >= phase_;
    });
  }

private:
  static constexpr std::uint32_t never = std::numeric_limits<std::uint32_t>::max();
  /// With more accesses, all threads fence, because comparing all pairs would take too long.
  static constexpr std::size_t mostAccesses = 4096;

  /// An access since the last fence of all threads.
  struct Access {
    std::uint32_t rank;
    ir::MemoryRange range;
    bool multicast, writes;
    std::uint32_t phase;          ///< number of block-wide syncs before it
    std::uint32_t fenced = never; ///< the first later phase in which a waiting thread fences
  };

  void visit(std::size_t o) {
    const Op &op = block_.ops[o];
    if (ir::isBlockSync(op.kind) || has(op.sync, ir::DataSync::Before) || syncBefore_[o] != 0)
      ++phase_;
    if (ir::isWait(op.kind) || op.kind == ir::OpKind::SemAcquire || op.kind == ir::OpKind::Barrier) {
      for (Access &access : accesses_)
        if (access.phase < phase_)
          access.fenced = std::min(access.fenced, phase_);
    }
    if (op.kind == ir::OpKind::Barrier) // a barrier also synchronises after its wait
      ++phase_;
    const auto fenced = [&](const Access &access) { return access.fenced < phase_; };
    accesses_.erase(std::remove_if(accesses_.begin(), accesses_.end(), fenced), accesses_.end());
    const std::size_t before = accesses_.size();
    ir::forEachMemory(program_, rank_, block_, op, [&](const ir::MemoryPiece &piece) {
      accesses_.push_back({piece.rank, ir::memoryOf(program_, piece), piece.reach == ir::Reach::SwitchChannel,
                           piece.access != ir::Access::Read, phase_});
    });
    if (before > mostAccesses || conflicts(before)) {
      fenceBefore_[o] = 1;
      accesses_.erase(accesses_.begin(), accesses_.begin() + static_cast<std::ptrdiff_t>(before));
    }
    if (has(op.sync, ir::DataSync::After))
      ++phase_;
  }

  /// True if one of the accesses from `before` on conflicts with an earlier one: both are to the same memory, by
  /// different kinds of addresses, with no fence between them.
  bool conflicts(std::size_t before) const {
    for (std::size_t later = before; later < accesses_.size(); ++later)
      for (std::size_t earlier = 0; earlier < before; ++earlier) {
        const Access &a = accesses_[earlier], &b = accesses_[later];
        if (a.rank == b.rank && a.multicast != b.multicast && (a.writes || b.writes) && a.range.overlaps(b.range))
          return true;
      }
    return false;
  }

  const ir::Program &program_;
  const std::uint32_t rank_;
  const ir::ThreadBlock &block_;
  const std::vector<char> &syncBefore_;
  std::vector<char> &fenceBefore_;
  std::uint32_t phase_ = 1;
  std::vector<Access> accesses_;
};

} // namespace

bool markUnfencedAliases(const ir::Program &program, std::uint32_t rank, const ir::ThreadBlock &block, bool hasPackets,
                         const std::vector<char> &syncBefore, std::vector<char> &fenceBefore) {
  const auto reaches = [&](const Op &op) {
    return std::ranges::any_of(block.operands(op),
                               [](const ir::Chunk &chunk) { return chunk.space == ir::ChunkSpace::Switch; });
  };
  bool endsUnfenced = hasPackets && !program.ranks[rank].switchChannels.empty();
  if (std::ranges::any_of(block.ops, reaches))
    endsUnfenced |= FenceMarker(program, rank, block, syncBefore, fenceBefore).run();
  return endsUnfenced;
}

} // namespace mscclc::cuda
