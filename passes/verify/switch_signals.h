// Checks whether signals through a switch equal one signal to each member. The conditions are in ir/switch_signals.h.
#pragma once

#include "ir/diagnostics.h"
#include "ir/program.h"

namespace mscclc::passes::proof {

/// Reports each rank that does not signal and wait in turn. It must do so in one thread block, and begin with a signal
/// and end with a wait. Returns false if it reports anything.
bool checkSwitchSignals(const ir::Program &program, ir::DiagnosticEngine &diags);

} // namespace mscclc::passes::proof
