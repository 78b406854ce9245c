// Descriptors of the front end's diagnostics.
#pragma once

#include "ir/diagnostics.h"

namespace mscclc::frontend::diag {
#define DIAGNOSTICS_FILE "frontend/diagnostics.def"
#include "ir/declare_diagnostics.h"
} // namespace mscclc::frontend::diag
