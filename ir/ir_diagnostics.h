// The diagnostics of this room: syntax of IR text, and structure of programs.
#pragma once

#include "ir/diagnostics.h"

namespace mscclc::ir::diag {
#define DIAGNOSTICS_FILE "ir/diagnostics.def"
#include "ir/declare_diagnostics.h"
} // namespace mscclc::ir::diag
