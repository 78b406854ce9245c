// Corrects the places that Clang gives to calls.
#pragma once

#include "clang/AST/ASTContext.h"

namespace mscclc::frontend {

/// Gives the default arguments of `a.b()` in the source the place of `b`, as Clang does since version 22. Before, Clang
/// gave them the place of `a`, so all calls in a chain had the place of its beginning.
void placeCallsAtTheirNames(clang::ASTContext &context);

} // namespace mscclc::frontend
