// mscclc explain-hang: why launches hang, from what the runtime of each process has dumped.
#pragma once

#include <string>
#include <vector>

namespace mscclc::driver {

/// Reads the dumps that `arguments` name (`-`: standard input), and prints for each communicator what keeps its
/// launches from going on, and who waits for whom. Returns the exit code of the program. Diagnostics go to standard
/// error.
int explainHang(const std::vector<std::string> &arguments);

} // namespace mscclc::driver
