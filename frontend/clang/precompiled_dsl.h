// The DSL's headers, precompiled when mscclc is built. Reading the headers would take a third of a small compilation.
//
// Clang checks a precompiled file: its own version, the language options, and each header in the file must be the same.
// Clang does not compare the folders that it searches for headers, so the file's name depends on these. If no file
// fits, Clang reads the headers, which only takes longer.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace clang {
class CompilerInvocation;
}

namespace mscclc::frontend {

/// Returns the path of the precompiled file for this invocation, in `directory` (see precompiledDslDirectory).
std::string precompiledDslPath(const clang::CompilerInvocation &invocation, llvm::StringRef directory);

/// Returns true if a source includes the DSL first. Then including the headers earlier changes nothing. A NUL must
/// follow the end of `source`.
bool beginsWithDsl(llvm::StringRef source);

} // namespace mscclc::frontend
