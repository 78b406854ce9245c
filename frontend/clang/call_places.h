// Where Clang says that a call stands.
#pragma once

#include "clang/AST/ASTContext.h"

namespace mscclc::frontend {

/// Gives the default arguments of `a.b()` in the source the place of `b`, as Clang has done since version 22; before,
/// it is that of `a`, and calls in a chain all stand at its beginning.
void placeCallsAtTheirNames(clang::ASTContext &context);

} // namespace mscclc::frontend
