// Which passes run, in which order: the one place that says so.
#pragma once

#include "passes/pass_manager.h"

#include <string>
#include <string_view>

namespace mscclc::driver {

inline constexpr int maxOptLevel = 2;

/// The passes of -O0 to -O2 for thread blocks, as a list that PassManager::add takes.
std::string_view pipelineOf(int optLevel);
/// The same for a program of statements: first those that make thread blocks of them.
std::string schedulingPipelineOf(int optLevel);
/// What such a program is compiled with, to compare choices: what changes its time most.
std::string candidatePipeline();
/// What candidatePipeline() begins with, and schedulingPipelineOf(maxOptLevel) as well.
std::string_view sharedPipeline();

} // namespace mscclc::driver
