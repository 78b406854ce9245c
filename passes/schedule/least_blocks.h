// Lower limits for thread blocks, from the statements that are assigned to them.
#pragma once

#include "passes/analyses.h"

#include "ir/program.h"

#include <cstdint>

namespace mscclc::passes::schedule {

/// Lower limits for the thread blocks of a program.
struct LeastBlocks {
  std::uint64_t operations = 0; ///< operations of the block that has most operations
  std::uint64_t blocks = 0;     ///< blocks of one instance, on the rank that has most blocks
};

/// Returns the limits for placed, ordered and cut statements with their analyses. Each statement becomes an operation
/// of its block, in this order, and fusion only merges neighbours. So there are at least as many operations as
/// statements that cannot merge into the statement before. If no port puts plain data, the waits and signals that are
/// certainly needed by dependences count as well. Later passes add more sync, and no pass before prune-sync removes
/// any. A program that exceeds an executor's limits here is certainly refused after scheduling. Takes linear time.
LeastBlocks leastBlocks(const ir::Program &program, Analyses &analyses);

} // namespace mscclc::passes::schedule
