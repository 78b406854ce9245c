// The DSL's functions as an algorithm's code finds them.
#pragma once

#include <string_view>

namespace mscclc::frontend {

/// Where the DSL function of this mangled name is; null if there is none.
void *findDslFunction(std::string_view symbol);

/// Whether this is a function of mscclc::List. It is not told where it is called, as the others are.
bool isListFunction(std::string_view symbol);

} // namespace mscclc::frontend
