// --synthesize: makes a program without a source.
#pragma once

#include "compiler/outputs/outputs.h"

#include <optional>
#include <string>
#include <vector>

namespace mscclc::driver {

/// Returns the names of the collectives that --synthesize takes, in the order of --help.
std::vector<std::string> synthesizedNames();

/// Returns the fastest program for the options of `job`. Its statements are not scheduled yet. Reports, as a remark,
/// the limit that the links of the machine set, and the alternatives that were compared. If there is no program,
/// reports why and returns nothing.
std::optional<ir::Program> synthesize(Job &job);

} // namespace mscclc::driver
