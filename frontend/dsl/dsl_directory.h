// Finds the DSL's headers.
#pragma once

#include <string>
#include <vector>

namespace mscclc::frontend {

/// Returns folders that may hold mscclc/dsl.hpp: `include` beside the running program's folder, and the folder in the
/// source tree of the build.
std::vector<std::string> dslDirectories();

/// Returns the first of `directories` that has the header, or nothing.
std::string findDslDirectory(const std::vector<std::string> &directories);

/// Returns the folder of precompiled headers (precompiled_dsl.h), which may not exist: `lib/mscclc` beside the running
/// program's folder. Empty if the program's folder is unknown.
std::string precompiledDslDirectory();

/// Returns the folder of Clang's own headers in a package, which may not exist: `lib/mscclc/clang` beside the running
/// program's folder. Empty if the program's folder is unknown.
std::string packagedClangDirectory();

} // namespace mscclc::frontend
