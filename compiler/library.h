// mscclc library, mscclc tune: make a folder of kernels for the library that replaces NCCL.
#pragma once

#include <string>
#include <vector>

namespace mscclc::driver {

/// Does `mscclc library ARGUMENT...` or `mscclc tune ARGUMENT...`: replaces this process by that command of the Python
/// package (runtime-min/python). The command uses this tool. The package is the one that is installed with the tool, or
/// the one of the checkout where the tool was built. If neither exists, Python searches for the package. `arguments`
/// begin with the name of the command. Returns an exit code if Python cannot be started. Otherwise, does not return.
int makeLibrary(const std::vector<std::string> &arguments);

} // namespace mscclc::driver
