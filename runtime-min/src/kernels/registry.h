// The kernels of the process, in the order of their registration. The one thing all communicators share; it only grows
// by what is registered, and shrinks by what is taken out.
#pragma once

#include "status.h"

#include <vector>

namespace mscclc::rt {

std::vector<const MscclcKernel *> registeredKernels();

} // namespace mscclc::rt
