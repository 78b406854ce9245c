// What of a program need not be walked, because it does the same at the same time as what is.
#pragma once

#include "passes/representative_rank.h"
#include "passes/time/machine.h"

#include "ir/program_index.h"

#include <cstdint>
#include <optional>
#include <span>

namespace mscclc::passes::time {

/// A part of a program that is walked for all of it.
struct Folding {
  std::uint32_t instances = 1; ///< of each run of so many blocks, the first
  bool ranks = false;          ///< of all ranks, rank 0

  /// True if the block is walked.
  bool walks(std::uint32_t rank, std::size_t block) const { return block % instances == 0 && (!ranks || rank == 0); }
};

/// True if the blocks of each rank are runs of `instances` that do the same with channels, semaphores, barriers and
/// chunks of their own, which lead to the same ranks, as replicate-instances leaves them, so that they take the same
/// time. Not where ports are used: what instances leave to their rank's proxy, it does one after the other.
bool areInstancesAlike(std::span<const ir::Rank> ranks, std::uint32_t instances);

/// Of a program whose ranks all do the same on `machine`, each seen from itself: blocks and semaphores have the same
/// numbers; channels do up to one renaming for each rank, because two ranks that number what is between them in one
/// order cannot both number it as rank 0 does; what stands for one channel leads to as many different ranks and to ends
/// that stand for one, and so do operands; packets lie at the same places. Then all ranks take the same time, up to the
/// order in which a proxy takes what comes at once. Nothing if they do not, or where switches or the links of a mesh
/// are used, which this does not compare.
std::optional<OtherEnds> foldRanks(const ir::ProgramIndex &index, const Machine &machine);

} // namespace mscclc::passes::time
