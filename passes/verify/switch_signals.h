// Signals through the switch: what makes them the same as one signal of each member (ir/switch_signals.h).
#pragma once

#include "ir/diagnostics.h"
#include "ir/program.h"

namespace mscclc::passes::proof {

/// Reports where a rank does not signal and wait by turns, beginning with a signal and ending with a wait, in one
/// thread block. False if it reports anything.
bool checkSwitchSignals(const ir::Program &program, ir::DiagnosticEngine &diags);

} // namespace mscclc::passes::proof
