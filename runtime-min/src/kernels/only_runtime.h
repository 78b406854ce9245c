// One runtime in a process.
#pragma once

#include "status.h"

namespace mscclc::rt {

/// Makes this runtime the one that the process uses; fails if it uses another already. Two would not know of each
/// other's kernels, and not order their launches on a device that they share. From any thread.
Status useRuntime();

} // namespace mscclc::rt
