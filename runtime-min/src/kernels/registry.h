// The kernels of the process, in the order of their registration. It is the only object that all communicators share.
// It changes only when kernels are registered and unregistered.
#pragma once

#include "status.h"

#include <vector>

namespace mscclc::rt {

std::vector<const MscclcKernel *> registeredKernels();

} // namespace mscclc::rt
