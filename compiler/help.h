// The text of --help besides the options.
#pragma once

#include <string>

namespace mscclc::driver {

/// Returns the names that options take, examples, several values of parameters, exit codes.
std::string helpFooter();

} // namespace mscclc::driver
