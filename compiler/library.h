// mscclc library, mscclc tune: a folder of kernels for the library in NCCL's place.
#pragma once

#include <string>
#include <vector>

namespace mscclc::driver {

/// Does `mscclc library ARGUMENT...` or `mscclc tune ARGUMENT...`: becomes that command of the Python package
/// (runtime-min/python), which uses this tool. `arguments` begin with the name of the command. The package is the one
/// that is installed with the tool, or that of the checkout in which it was built, or else the one that Python finds.
/// Returns the exit code only if Python cannot be started.
int makeLibrary(const std::vector<std::string> &arguments);

} // namespace mscclc::driver
