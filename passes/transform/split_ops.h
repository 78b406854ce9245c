// Splits operations that an executor cannot do as one into several with the same result.
#pragma once

#include "ir/diagnostics.h"
#include "ir/program.h"
#include "passes/target.h"

namespace mscclc::passes {

struct SplitCounts {
  std::uint64_t split = 0;  ///< number of operations that were split
  std::uint64_t pieces = 0; ///< number of operations that they were split into, without nops
  std::uint64_t nops = 0;   ///< nops between pieces
};

/// Splits the operations of all blocks that exceed `target`: more channels, semaphores or chunks on a side than it
/// takes, or more than a block has threads, if each belongs to one thread. Also splits operations that it gets wrong.
/// Reports those that cannot be split.
SplitCounts splitWideOps(ir::Program &program, const Target &target, ir::DiagnosticEngine &diags);

} // namespace mscclc::passes
