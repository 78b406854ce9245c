// The DSL's functions as an algorithm's code finds them.
#pragma once

#include <string_view>

namespace mscclc::frontend {

/// Where the DSL function of this mangled name is; null if there is none.
void *findDslFunction(std::string_view symbol);

} // namespace mscclc::frontend
