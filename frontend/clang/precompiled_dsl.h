// The DSL's headers, precompiled when mscclc is built. Reading the headers would take a third of a small compilation.
//
// Clang checks that such a file fits: its own version, the language, and each header in the file. It does not compare
// the folders that are searched for headers, so these are part of the file's name. If no file fits, the headers are
// read. Only the time differs then.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace clang {
class CompilerInvocation;
}

namespace mscclc::frontend {

/// Returns the path of the file for this invocation, in a folder of such files (precompiledDslDirectory).
std::string precompiledDslPath(const clang::CompilerInvocation &invocation, llvm::StringRef directory);

/// Returns true if a source begins by including the DSL, so that including the headers earlier changes nothing. A NUL
/// must follow its end.
bool beginsWithDsl(llvm::StringRef source);

} // namespace mscclc::frontend
