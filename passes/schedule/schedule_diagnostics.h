// Diagnostics of movement programs and their schedules.
#pragma once

#include "ir/diagnostics.h"

namespace mscclc::passes::schedule::diag {
#define DIAGNOSTICS_FILE "passes/schedule/schedule_diagnostics.def"
#include "ir/declare_diagnostics.h"
} // namespace mscclc::passes::schedule::diag
