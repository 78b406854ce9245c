// Splits operations that an executor cannot do as one into several that mean the same.
#pragma once

#include "ir/diagnostics.h"
#include "ir/program.h"
#include "passes/target.h"

namespace mscclc::passes {

struct SplitCounts {
  std::uint64_t split = 0;  ///< operations that became several
  std::uint64_t pieces = 0; ///< what they became, nops not counted
  std::uint64_t nops = 0;   ///< nops between pieces
};

/// Splits the operations of all blocks that name more channels, semaphores or chunks on a side than `target` takes, or
/// more than a block has threads where each is one thread's; and those that it gets wrong as one. Those that cannot be
/// split are reported.
SplitCounts splitWideOps(ir::Program &program, const Target &target, ir::DiagnosticEngine &diags);

} // namespace mscclc::passes
