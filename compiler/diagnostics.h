#pragma once

#include "ir/diagnostics.h"

namespace mscclc::driver::diag {
#define DIAGNOSTICS_FILE "compiler/diagnostics.def"
#include "ir/declare_diagnostics.h"
} // namespace mscclc::driver::diag
