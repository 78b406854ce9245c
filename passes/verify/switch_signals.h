// Checks signals through the switch for the conditions under which they equal one signal to each member
// (ir/switch_signals.h).
#pragma once

#include "ir/diagnostics.h"
#include "ir/program.h"

namespace mscclc::passes::proof {

/// Reports each rank that does not signal and wait in turn, in one thread block, from a signal at the beginning to a
/// wait at the end. Returns false if it reports anything.
bool checkSwitchSignals(const ir::Program &program, ir::DiagnosticEngine &diags);

} // namespace mscclc::passes::proof
