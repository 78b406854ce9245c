// What a name stands for that the source has not declared, and other words that Clang cannot make sense of.
#pragma once

#include "frontend/clang/argument_advice.h"
#include "frontend/clang/held.h"

namespace clang {
class CompilerInstance;
}

namespace mscclc::frontend {

/// What to report in place of an error about a name; nothing where Clang's text says it best.
std::optional<Advice> adviceOnName(const Held &error, clang::CompilerInstance &compiler);

/// Whether an error says that a name is not declared, which is then the first of `names`.
bool isUndeclared(const Held &error);

} // namespace mscclc::frontend
