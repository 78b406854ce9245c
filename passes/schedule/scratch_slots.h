// In which order the slots of scratch lie that statements were given.
#pragma once

#include "ir/program.h"
#include "passes/analyses.h"

#include <cstdint>
#include <span>
#include <vector>

namespace mscclc::passes::schedule {

/// The range [index, index + size) of a rank's scratch, in chunks, which statements use as one.
struct ScratchSlot {
  std::uint32_t index = 0, size = 0;
};

/// Numbers the `slots` of each rank anew, which lie side by side there, by index: in the order in which they are first
/// written, and those that are written at once by how far off the rank that writes them is, and whom it writes besides.
/// So a slot has the same place on all ranks of a symmetric program. Its statements are placed. What it has to know of
/// them is left in `analyses`, for the passes after the running one.
void orderSlots(ir::Program &program, std::span<const std::vector<ScratchSlot>> slots, Analyses &analyses);

} // namespace mscclc::passes::schedule
