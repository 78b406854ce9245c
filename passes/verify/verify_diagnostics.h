// Diagnostics of the verifier and the simulator.
#pragma once

#include "ir/diagnostics.h"

namespace mscclc::passes::proof::diag {
#define DIAGNOSTICS_FILE "passes/verify/verify_diagnostics.def"
#include "ir/declare_diagnostics.h"
} // namespace mscclc::passes::proof::diag
