// Where the DSL's headers are.
#pragma once

#include <string>
#include <vector>

namespace mscclc::frontend {

/// Folders that may hold mscclc/dsl.hpp: `include` beside the running program's folder, and the one in the source tree
/// that it was built from.
std::vector<std::string> dslDirectories();

/// The first of `directories` that has the header, or nothing.
std::string findDslDirectory(const std::vector<std::string> &directories);

/// The folder of precompiled headers (precompiled_dsl.h), which need not be there: `lib/mscclc` beside the running
/// program's folder; empty where that cannot be found out.
std::string precompiledDslDirectory();

} // namespace mscclc::frontend
