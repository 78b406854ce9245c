// Makes compiled code record its current place.
#pragma once

#include "frontend/eval/compiled_algorithm.h"
#include "frontend/lower/build_ir.h"

#include "llvm/ADT/StringMap.h"

#include <string>
#include <vector>

namespace llvm {
class Module;
} // namespace llvm

namespace mscclc::frontend {

/// A symbol that is neither defined nor allowed, and the place in the user's code that needs it.
struct MissingSymbol {
  std::string name; ///< demangled
  CallSite needed;  ///< line 0 if unknown
};

/// Removes everything that the algorithm does not reach. Returns the symbols that it reaches but may not use.
std::vector<MissingSymbol> pruneModule(CompiledAlgorithm &algorithm, const llvm::StringMap<FileKind> &kinds);

/// Adds code that records places. Each call in the user's code, except a call of the DSL, pushes its site on
/// `__mscclc_call_stack`. The end of each loop and the entry of each function store the place in `__mscclc_last_place`.
/// A recursion that is too deep ends the run. Returns the call sites; their numbers are indices, and number 0 is no
/// site. Removes debug information.
std::vector<CallSite> instrument(llvm::Module &module, const llvm::StringMap<FileKind> &kinds);

} // namespace mscclc::frontend
