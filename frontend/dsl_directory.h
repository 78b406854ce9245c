// Where the DSL header is.
#pragma once

#include <string>
#include <utility>

namespace mscclc::frontend {

/// The folder that holds mscclc/dsl.hpp: `include` beside the running program's folder, or the one in the source tree
/// that it was built from. Empty if in neither; `tried` receives both.
std::string findDslDirectory(std::pair<std::string, std::string> &tried);

} // namespace mscclc::frontend
