// Handles exceptions that nothing else handles.
#pragma once

#include "compiler/driver.h"

#include <functional>

namespace mscclc::driver {

/// Calls `work` and returns its exit code. Exceptions are reported on standard error and have an exit code of their
/// own.
ExitCode guarded(const std::function<ExitCode()> &work);

} // namespace mscclc::driver
