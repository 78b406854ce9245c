// Finds out whether the thread blocks of ranks, or of instances, are symmetric.
//
// Thread blocks name channels by numbers. Example: three ranks number the channels to their peers in ascending order.
// Rank 0 has channels to ranks 1 and 2, so its channel 0 leads one step on. Rank 1 has channels to ranks 0 and 2, so
// its channel 0 leads one step back. So the image of a channel (see rank_symmetry.h) may have another number. Here,
// ranks are equivalent if
//   - blocks and semaphores have the same numbers, and packets have the same places,
//   - each channel of rank 0 has one image on each rank, and all operations name the image in its place,
//   - the images of a channel lead to different ranks, and to ends that are images of one channel of rank 0,
//   - and the images of an operand are on different ranks.
//
// No numbering of ranks is needed: the other ends show which channel of rank 0 receives the data that rank 0 sends.
#pragma once

#include "passes/representative_rank.h"

#include "ir/program_index.h"

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace mscclc::passes {

/// The symmetry of a program of thread blocks: whether rank 0 represents all ranks. All items are compared.
class BlockSymmetry {
public:
  /// Compares all ranks with rank 0. In addition, `isNear(rank, peer)` must be equal for a peer of a rank and the
  /// corresponding peer of rank 0. Symmetry does not hold if switches are used, because they are not compared.
  BlockSymmetry(const ir::ProgramIndex &index, const std::function<bool(std::uint32_t, std::uint32_t)> &isNear);

  bool holds() const { return holds_; }
  std::uint32_t representative(std::uint32_t rank) const { return holds_ ? 0 : rank; }
  /// Returns the image of channel `id` of rank 0 on rank `to`; `none` if no operation names it. Only valid if symmetry
  /// holds.
  std::uint32_t imageOfChannel(ir::ChannelType type, std::uint32_t id, std::uint32_t to) const {
    const bool port = type == ir::ChannelType::Port;
    return images_[port][to * otherEnds_[port].size() + id];
  }
  /// Returns the other ends of the channels of rank 0. Only valid if symmetry holds.
  const OtherEnds &otherEnds() const { return otherEnds_; }

private:
  bool holds_;
  std::array<std::vector<std::uint32_t>, 2> images_; ///< [0: memory, 1: port][rank, channel of rank 0]: its image
  OtherEnds otherEnds_;
};

/// True if the blocks of each rank are runs of `instances` equivalent blocks, in the form that the pass
/// replicate-instances makes. Each block of a run has its own channels, semaphores, barriers and chunks, which lead to
/// the same ranks. Then the first block of a run represents the others. False if ports are used, because a rank's proxy
/// serves the requests of all instances one after the other.
bool areInstancesSymmetric(std::span<const ir::Rank> ranks, std::uint32_t instances);

} // namespace mscclc::passes
