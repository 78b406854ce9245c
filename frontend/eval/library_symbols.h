// The functions and variables of libraries that an algorithm's code may use (allowed_symbols.def).
#pragma once

#include <string_view>

namespace mscclc::frontend {

/// Returns true if an algorithm's code may use the library symbol `name`.
bool isAllowedLibrarySymbol(std::string_view name);

/// Returns the address of an allowed symbol. Null if the symbol is not allowed, or if this C library does not have it.
void *findLibrarySymbol(std::string_view name);

} // namespace mscclc::frontend
