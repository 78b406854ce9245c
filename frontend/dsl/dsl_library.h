// The DSL's functions, by the names that an algorithm's code uses.
#pragma once

#include <string_view>

namespace mscclc::frontend {

/// Returns the address of the DSL function with this mangled name; null if there is none.
void *findDslFunction(std::string_view symbol);

/// Returns true if `symbol` is a function of mscclc::List. Such a function has no parameter for the place of the call.
bool isListFunction(std::string_view symbol);

} // namespace mscclc::frontend
