// The CUDA backend's diagnostics as descriptors.
#pragma once

#include "ir/diagnostics.h"

namespace mscclc::cuda::diag {
#define DIAGNOSTICS_FILE "backend-cuda/diagnostics.def"
#include "ir/declare_diagnostics.h"
} // namespace mscclc::cuda::diag
