// --synthesize: a program without a source.
#pragma once

#include "compiler/outputs/outputs.h"

#include <optional>
#include <string>
#include <vector>

namespace mscclc::driver {

/// Returns the names of the collectives that --synthesize takes, in the order of --help.
std::vector<std::string> synthesizedNames();

/// Returns the fastest program for the options of `job`, with its statements not yet scheduled. Says as a remark what
/// the links of the machine allow, and what else was compared. Returns nothing, and reports why, if there is none.
std::optional<ir::Program> synthesize(Job &job);

} // namespace mscclc::driver
