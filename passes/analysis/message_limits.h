// The largest message that an executor can handle. Its offsets, its loops and its reused scratch limit the bytes of a
// chunk.
#pragma once

#include "ir/diagnostics.h"
#include "ir/program.h"
#include "passes/target.h"

namespace mscclc::passes {

/// Reports each operation that `target` executes wrongly at the largest message that the program allows. If the program
/// does not state a largest message, states the largest one that is executed correctly. Then only operations that fail
/// even at the smallest message are reported.
void limitMessages(ir::Program &program, const Target &target, ir::DiagnosticEngine &diags);

/// Returns the size, in bytes, that limitMessages states for a program without a largest message.
std::uint64_t largestMessage(const ir::Program &program, const Target &target);

} // namespace mscclc::passes
