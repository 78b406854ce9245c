// The functions and variables of libraries that an algorithm's code may refer to (allowed_symbols.def).
#pragma once

#include <string_view>

namespace mscclc::frontend {

/// May code refer to `name`?
bool isAllowedLibrarySymbol(std::string_view name);

/// Where an allowed symbol is; null if it is not allowed, or if this C library has none of that name.
void *findLibrarySymbol(std::string_view name);

} // namespace mscclc::frontend
