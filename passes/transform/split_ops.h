// Splits operations that an executor cannot do at once into several operations with the same result.
#pragma once

#include "ir/diagnostics.h"
#include "ir/program.h"
#include "passes/target.h"

namespace mscclc::passes {

struct SplitCounts {
  std::uint64_t split = 0;  ///< number of operations that were split
  std::uint64_t pieces = 0; ///< number of operations after splitting, without nops
  std::uint64_t nops = 0;   ///< number of nops between the parts
};

/// Splits the operations that exceed the limits of `target`. An operation may have more channels, semaphores or chunks
/// on a side than the target takes. Or it may have more of them than a block has threads, if each belongs to one
/// thread. Also splits operations that the target executes wrongly. Reports operations that cannot be split.
SplitCounts splitWideOps(ir::Program &program, const Target &target, ir::DiagnosticEngine &diags);

} // namespace mscclc::passes
