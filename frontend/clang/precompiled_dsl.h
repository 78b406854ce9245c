// The DSL's headers read ahead, and the driver asked: what takes a third of a small compilation is done once, when
// mscclc is built.
//
// A file of them holds for one version of Clang, one set of switches and include folders, and the very headers it was
// made from. Its name tells the switches, Clang checks the rest; where something differs, the headers are read as they
// are, and nothing but the time is different.
#pragma once

#include "frontend/frontend.h"

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace clang {
class CompilerInvocation;
}

namespace mscclc::frontend {

/// Where the file for this invocation would be, in a folder of such files (precompiledDslDirectory).
std::string precompiledDslPath(const clang::CompilerInvocation &invocation, llvm::StringRef directory);

/// Whether a source begins by including the DSL, so that its headers may have been read before all else.
/// A NUL stands behind it.
bool beginsWithDsl(llvm::StringRef source);

/// Keeps in such a folder what Clang's driver made of the usual arguments, or gives it back: nothing if it is not
/// there. It holds where the headers of the same folder do.
bool keepFrontendArguments(const std::string &directory, const std::vector<std::string> &arguments);
std::vector<std::string> recallFrontendArguments(const std::string &directory);

/// Whether the environment has words for Clang's driver.
bool driverEnvironmentIsSet();

/// Makes a CompilerInvocation read (or write) such a file safely: all its sources are checked for changes.
void checkPrecompiledSources(clang::CompilerInvocation &invocation);

} // namespace mscclc::frontend
