// Orders the slots of scratch that statements use.
#pragma once

#include "ir/program.h"
#include "passes/analyses.h"

#include <cstdint>
#include <span>
#include <vector>

namespace mscclc::passes::schedule {

/// The range [index, index + size) of a rank's scratch, in chunks, which statements use as a whole.
struct ScratchSlot {
  std::uint32_t index = 0, size = 0;
};

/// Moves the slots of each rank into the order of their first writes. `slots` must be adjacent, and sorted by index.
/// Slots that are first written at the same level are ordered by the distance of the writing rank, then by the share
/// and the other ranks of the write. So a slot has the same place on all ranks of a symmetric program. The statements
/// must be placed. The computed analyses stay in `analyses`, for later passes.
void orderSlots(ir::Program &program, std::span<const std::vector<ScratchSlot>> slots, Analyses &analyses);

} // namespace mscclc::passes::schedule
