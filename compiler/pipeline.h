// Which passes run, in which order: the one place that says so.
#pragma once

#include "passes/pass_manager.h"

#include <string_view>

namespace mscclc::driver {

inline constexpr int maxOptLevel = 2;

/// The passes of -O0 to -O2, as a list that PassManager::add takes.
std::string_view pipelineOf(int optLevel);

} // namespace mscclc::driver
