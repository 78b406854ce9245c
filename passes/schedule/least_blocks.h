// What thread blocks have at least, told from the statements that are dealt out to them.
#pragma once

#include "passes/analyses.h"

#include "ir/program.h"

#include <cstdint>

namespace mscclc::passes::schedule {

struct LeastBlocks {
  std::uint64_t operations = 0; ///< of the block that has the most
  std::uint64_t blocks = 0;     ///< of the rank that has the most, in one instance
};

/// For statements that are placed, ordered and cut, and what is known of them. Each becomes an operation of its block,
/// in this order, and fusion merges neighbours alone: so there are as many operations as statements that cannot merge
/// into the one before. Where no port puts plain data, the waits and signals count as well that dependences alone show
/// to be needed; more come on top, and nothing takes any away before prune-sync. What passes an executor's limits here
/// is refused once it is scheduled. Linear.
LeastBlocks leastBlocks(const ir::Program &program, Analyses &analyses);

} // namespace mscclc::passes::schedule
