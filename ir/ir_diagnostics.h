// Diagnostics of the syntax of IR text, and of the structure of programs.
#pragma once

#include "ir/diagnostics.h"

namespace mscclc::ir::diag {
#define DIAGNOSTICS_FILE "ir/diagnostics.def"
#include "ir/declare_diagnostics.h"
} // namespace mscclc::ir::diag
