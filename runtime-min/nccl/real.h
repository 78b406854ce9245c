// The NCCL that this library stands in front of.
#pragma once

#include "call.h"

#include <string>

namespace mscclc::nccl {

/// Functions of the real library that this one calls itself. Null where there is no real library.
struct Real {
#define REAL(name, member, result, ...) result (*member)(__VA_ARGS__);
#define ASKED REAL
#include "functions.def"
};

/// Opened at the first call of any function. A function that the library lacks is one that fails with InvalidUsage and
/// says so.
const Real &real();
/// Whether the real library is what calls: `caller` is the address that a function of this library returns to. Where
/// the real library calls its own functions by their names, those of this library come first, and have to pass that on.
bool isReal(const void *caller);
/// dlopen's handle of it, or null.
void *realLibrary();
/// Why communicators cannot be made: there is no real library, or the process has two. Empty if all is well.
std::string refusal();

/// Passes a recorded call on.
int passOn(const Call &call);

} // namespace mscclc::nccl
