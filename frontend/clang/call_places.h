// Corrects the places that Clang gives to calls.
#pragma once

#include "clang/AST/ASTContext.h"

namespace mscclc::frontend {

/// Gives the default arguments of a call `a.b()` in the source the place of `b`, as Clang 22 and later do. Older
/// versions give them the place of `a`. Then all calls in a chain would have the place of its beginning.
void placeCallsAtTheirNames(clang::ASTContext &context);

} // namespace mscclc::frontend
