#include "frontend/eval/library_symbols.h"

#include "frontend/trace/recorder.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>

#include <dlfcn.h>

// The compiler's libraries may be linked statically. Naming the needed symbols here keeps them in the program.
extern "C" {
#define ALLOW_COMPILER(name) extern const char name[];
#include "frontend/eval/allowed_symbols.def"
}

namespace mscclc::frontend {
namespace {

constexpr std::string_view libraryNames[] = {
#define ALLOW(...) __VA_ARGS__,
#include "frontend/eval/allowed_symbols.def"
};
/// The names of functions for double. Those for float and long double end in f and l.
constexpr std::string_view mathNames[] = {
#define ALLOW_MATH(...) __VA_ARGS__,
#include "frontend/eval/allowed_symbols.def"
};

const HostSymbol compilerSymbols[] = {
#define ALLOW_COMPILER(name) {#name, const_cast<char *>(name)},
#include "frontend/eval/allowed_symbols.def"
};

bool isIn(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool isMath(std::string_view name) {
  const bool hasSuffix = name.ends_with('f') || name.ends_with('l');
  return isIn(mathNames, name) || (hasSuffix && isIn(mathNames, name.substr(0, name.size() - 1)));
}

const HostSymbol *findCompilerSymbol(std::string_view name) {
  const auto *found = std::ranges::find(compilerSymbols, name, &HostSymbol::name);
  return found == std::end(compilerSymbols) ? nullptr : found;
}

} // namespace

bool isAllowedLibrarySymbol(std::string_view name) {
  return isIn(libraryNames, name) || isMath(name) || findCompilerSymbol(name);
}

void *findLibrarySymbol(std::string_view name) {
  if (const HostSymbol *symbol = findCompilerSymbol(name))
    return symbol->address;
  return isAllowedLibrarySymbol(name) ? dlsym(RTLD_DEFAULT, std::string(name).c_str()) : nullptr;
}

} // namespace mscclc::frontend
