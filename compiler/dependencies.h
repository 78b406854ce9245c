// -MD: writes a rule for make and ninja, with the files from which an output was made.
#pragma once

#include "compiler/options.h"

#include <string>
#include <vector>

namespace mscclc::driver {

/// Returns the path of the rule's file: the value of -MF if it is given, else the output's path with the ending .d.
std::string dependencyFile(const Options &options);

/// Returns the rule "OUTPUT: INPUT FILE…". Each file is named once, on a line of its own. `files`: the files that the
/// input includes. If --machine names a file, the rule names it, too.
std::string dependencyRule(const Options &options, const std::vector<std::string> &files);

} // namespace mscclc::driver
