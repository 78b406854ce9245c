// Diagnostics of the passes.
#pragma once

#include "ir/diagnostics.h"
#include "ir/program.h"

namespace mscclc::passes {

namespace diag {
#define DIAGNOSTICS_FILE "passes/diagnostics.def"
#include "ir/declare_diagnostics.h"
} // namespace diag

/// Returns the place of an operation: its source location, or "rank 1, block 0, operation 3". Errors at operation 3 of
/// other blocks and ranks count as repetitions if their operation is of the same kind.
ir::Where whereIs(const ir::Program &program, ir::OpRef op);

} // namespace mscclc::passes
