// Descriptors of the plan reader's diagnostics.
#pragma once

#include "ir/diagnostics.h"

namespace mscclc::json::diag {
#define DIAGNOSTICS_FILE "backend-json/diagnostics.def"
#include "ir/declare_diagnostics.h"
} // namespace mscclc::json::diag
