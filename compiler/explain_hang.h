// mscclc explain-hang: explains why launches hang, from the dumps that the runtime of each process has written.
#pragma once

#include <string>
#include <vector>

namespace mscclc::driver {

/// Reads the dumps that `arguments` name (`-`: standard input). For each communicator, prints the reason why its
/// launches do not complete, and which ranks wait for which. Prints diagnostics on standard error. Returns the exit
/// code of the program.
int explainHang(const std::vector<std::string> &arguments);

} // namespace mscclc::driver
