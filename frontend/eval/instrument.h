// Makes compiled code tell where it is.
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

/// A symbol that is referred to but neither defined nor allowed, and the user's code that needs it.
struct MissingSymbol {
  std::string name; ///< demangled
  CallSite needed;  ///< line 0 if unknown
};

/// Drops all that the algorithm does not reach, and lists what it reaches but cannot have.
std::vector<MissingSymbol> pruneModule(CompiledAlgorithm &algorithm, const llvm::StringMap<FileKind> &kinds);

/// Around each call in the user's code, other than to the DSL, pushes its site on `__mscclc_call_stack`; at each loop's
/// end and function's entry notes the place in `__mscclc_last_place`; ends recursions that are too deep. Returns the
/// sites that the code refers to by number; number 0 is none. Debug information is gone afterwards.
std::vector<CallSite> instrument(llvm::Module &module, const llvm::StringMap<FileKind> &kinds);

} // namespace mscclc::frontend
