// Where the DSL header is.
#pragma once

#include <string>
#include <vector>

namespace mscclc::frontend {

/// Folders that may hold mscclc/dsl.hpp: `include` beside the running program's folder, and the one in the source tree
/// that it was built from.
std::vector<std::string> dslDirectories();

/// The first of `directories` that has the header, or nothing.
std::string findDslDirectory(const std::vector<std::string> &directories);

} // namespace mscclc::frontend
