// Guesses the meaning of an undeclared name, and of other words that Clang cannot resolve.
#pragma once

#include "frontend/clang/argument_advice.h"
#include "frontend/clang/held.h"

namespace clang {
class CompilerInstance;
}

namespace mscclc::frontend {

/// Returns the error that replaces an error about a name; nothing if Clang's text is best.
std::optional<Advice> adviceOnName(const Held &error, clang::CompilerInstance &compiler);

/// Returns true if an error reports an undeclared name. The name is then the first of `names`.
bool isUndeclared(const Held &error);

} // namespace mscclc::frontend
