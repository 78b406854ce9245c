// What may still go wrong where nothing is expected to.
#pragma once

#include "compiler/driver.h"

#include <functional>

namespace mscclc::driver {

/// Calls `work` and returns its exit code; exceptions are told on standard error and have a code of their own.
ExitCode guarded(const std::function<ExitCode()> &work);

} // namespace mscclc::driver
