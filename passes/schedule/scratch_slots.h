// In which order the slots of scratch lie that statements were given.
#pragma once

#include "ir/program.h"

#include <span>

namespace mscclc::passes::schedule {

/// Numbers the slots anew that lie in the scratch of each rank from `first`, by rank, on, each of `size` chunks: in the
/// order in which they are first written, and those that are written at once by how far off the rank that writes them
/// is. So a slot has the same number on all ranks of a symmetric program. Its statements are placed.
void orderSlots(ir::Program &program, std::span<const std::uint32_t> first, std::uint32_t size);

} // namespace mscclc::passes::schedule
