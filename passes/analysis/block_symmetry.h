// The symmetry of thread blocks: of ranks, and of instances.
//
// Thread blocks name channels by numbers. Two ranks that number what is between them in one order cannot both number it
// as rank 0 does, so that the image of a channel (see rank_symmetry.h) is not the one of its number. Ranks do the same
// here if
//
//   - blocks and semaphores have the same numbers, and packets lie at the same places,
//   - each channel of rank 0 has one image on each rank, which is named in its place wherever it is named,
//   - the images of a channel lead to as many different ranks, and to ends that are images of one channel of rank 0,
//   - and the images of an operand lie on as many different ranks.
//
// No numbering of ranks is needed: the other ends say which channel of rank 0 brings back what rank 0 sends.
#pragma once

#include "passes/representative_rank.h"

#include "ir/program_index.h"

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace mscclc::passes {

/// Whether rank 0 represents all ranks of a program of thread blocks. Compared item by item.
class BlockSymmetry {
public:
  /// `isNear(rank, other)`: what all ranks, besides, have to see of what they reach as rank 0 does. Where switches are
  /// used, symmetry does not hold, as they are not compared.
  BlockSymmetry(const ir::ProgramIndex &index, const std::function<bool(std::uint32_t, std::uint32_t)> &isNear);

  bool holds() const { return holds_; }
  std::uint32_t representative(std::uint32_t rank) const { return holds_ ? 0 : rank; }
  /// Where it holds, the image of channel `id` of rank 0 on rank `to`; `none` if no operation names it.
  std::uint32_t imageOfChannel(ir::ChannelType type, std::uint32_t id, std::uint32_t to) const {
    const bool port = type == ir::ChannelType::Port;
    return images_[port][to * otherEnds_[port].size() + id];
  }
  /// Where it holds, of the channels of rank 0.
  const OtherEnds &otherEnds() const { return otherEnds_; }

private:
  bool holds_;
  std::array<std::vector<std::uint32_t>, 2> images_; ///< memory, then ports: [rank][channel of rank 0]
  OtherEnds otherEnds_;
};

/// The same of instances: true if the blocks of each rank are runs of `instances` that do the same with channels,
/// semaphores, barriers and chunks of their own, which lead to the same ranks, as replicate-instances leaves them. Then
/// the first of each run represents it. False where ports are used: what instances leave to their rank's proxy, it does
/// one after the other.
bool areInstancesSymmetric(std::span<const ir::Rank> ranks, std::uint32_t instances);

} // namespace mscclc::passes
