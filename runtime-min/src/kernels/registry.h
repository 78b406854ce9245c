// The registry: the kernels of the process, in the order of their registration. All communicators share it. It changes
// only when kernels are registered or unregistered.
#pragma once

#include "status.h"

#include <vector>

namespace mscclc::rt {

std::vector<const MscclcKernel *> registeredKernels();

} // namespace mscclc::rt
