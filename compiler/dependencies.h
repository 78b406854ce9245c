// -MD: the files that an output was made from, as a rule for make and ninja.
#pragma once

#include "compiler/options.h"

#include <string>
#include <vector>

namespace mscclc::driver {

/// Returns the path of the rule's file: that of -MF, else the output's with .d in place of its ending.
std::string dependencyFile(const Options &options);

/// Returns the rule "OUTPUT: INPUT FILE…", each file once and on a line of its own. `files`: the files that the input
/// includes. A machine file is one of the inputs.
std::string dependencyRule(const Options &options, const std::vector<std::string> &files);

} // namespace mscclc::driver
