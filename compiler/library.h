// mscclc library, mscclc tune: a folder of kernels for the library in NCCL's place.
#pragma once

#include <string>
#include <vector>

namespace mscclc::driver {

/// Does `mscclc library ARGUMENT...` or `mscclc tune ARGUMENT...`: becomes that command of the Python package
/// (runtime-min/python), which uses this tool. `arguments` begin with the name of the command. The package is installed
/// with the tool, or is part of the checkout where the tool was built. If there is neither, it is the package found by
/// Python. Returns the exit code only if Python cannot be started.
int makeLibrary(const std::vector<std::string> &arguments);

} // namespace mscclc::driver
