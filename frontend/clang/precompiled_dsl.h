// The DSL's headers, precompiled when mscclc is built: reading them takes a third of a small compilation.
//
// Clang checks that such a file fits: its own version, the language, and each header that the file was made of. What
// Clang does not compare are the folders where headers are looked for, so they are part of the file's name. Where no
// file fits, the headers are read, and nothing but the time is different.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace clang {
class CompilerInvocation;
}

namespace mscclc::frontend {

/// Where the file for this invocation is, in a folder of such files (precompiledDslDirectory).
std::string precompiledDslPath(const clang::CompilerInvocation &invocation, llvm::StringRef directory);

/// Whether a source begins by including the DSL, so that it means the same with the headers before all else.
/// A NUL stands after its end.
bool beginsWithDsl(llvm::StringRef source);

} // namespace mscclc::frontend
