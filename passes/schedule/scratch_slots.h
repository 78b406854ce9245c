// Orders the slots of scratch that statements were given.
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

/// Numbers the `slots` of each rank anew. They must be adjacent, and sorted by index. The new order is that of their
/// first writes. Slots written at the same time are ordered by the distance of the writing rank, and then by the other
/// ranks that it writes. So a slot has the same place on all ranks of a symmetric program. The statements must be
/// placed. Analyses that it computes stay in `analyses`, for later passes.
void orderSlots(ir::Program &program, std::span<const std::vector<ScratchSlot>> slots, Analyses &analyses);

} // namespace mscclc::passes::schedule
