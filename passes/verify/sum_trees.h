// Reads the order of sums from the values that a launch leaves in memory.
#pragma once

#include "passes/run/memory.h"
#include "passes/verify/sum_order.h"
#include "passes/verify/values.h"

#include <functional>

namespace mscclc::passes::proof {

/// Returns the order of the sums in outputs. The proof must have found the outputs right. `writerOf` returns the
/// operation that wrote a cell last.
SumOrder sumOrderOf(const ProgramIndex &index, const Memory &memory, const Values &values, std::uint32_t unitsPerChunk,
                    const std::function<ir::Where(const Cell &)> &writerOf);

} // namespace mscclc::passes::proof
