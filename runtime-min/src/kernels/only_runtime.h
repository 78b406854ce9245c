// Ensures that a process uses only one runtime.
#pragma once

#include "status.h"

namespace mscclc::rt {

/// Makes this runtime the one that the process uses. Fails if it already uses another one. Two runtimes would not know
/// each other's kernels, and would not order their launches on a shared device. From any thread.
Status useRuntime();

} // namespace mscclc::rt
