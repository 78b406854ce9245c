// Ensures that a process uses only one runtime.
#pragma once

#include "status.h"

namespace mscclc::rt {

/// Marks this runtime as the one that the process uses. Fails if the process already uses another one. Two runtimes
/// would not know each other's kernels, and would not order their launches on a shared device. May be called from any
/// thread.
Status useRuntime();

} // namespace mscclc::rt
