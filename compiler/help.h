// What --help says besides the options.
#pragma once

#include <string>

namespace mscclc::driver {

/// The names that options take, examples, several values of parameters, exit codes.
std::string helpFooter();

} // namespace mscclc::driver
