#include "frontend/eval/library_symbols.h"

#include "frontend/trace/recorder.h"

#include <algorithm>
#include <iterator>
#include <string>

#include <dlfcn.h>

// The compiler's libraries may be linked statically. Naming the needed symbols here keeps them in the program.
extern "C" {
#define ALLOW(name)
#define ALLOW_COMPILER(name) extern const char name[];
#include "frontend/eval/allowed_symbols.def"
}

namespace mscclc::frontend {
namespace {

constexpr std::string_view allowedNames[] = {
#define ALLOW(name) #name,
#include "frontend/eval/allowed_symbols.def"
};

const HostSymbol compilerSymbols[] = {
#define ALLOW(name)
#define ALLOW_COMPILER(name) {#name, const_cast<char *>(name)},
#include "frontend/eval/allowed_symbols.def"
};

} // namespace

bool isAllowedLibrarySymbol(std::string_view name) {
  return std::find(std::begin(allowedNames), std::end(allowedNames), name) != std::end(allowedNames);
}

void *findLibrarySymbol(std::string_view name) {
  if (!isAllowedLibrarySymbol(name))
    return nullptr;
  for (const HostSymbol &symbol : compilerSymbols)
    if (name == symbol.name)
      return symbol.address;
  return dlsym(RTLD_DEFAULT, std::string(name).c_str());
}

} // namespace mscclc::frontend
