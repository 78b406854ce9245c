// The real NCCL, in whose place this library is loaded.
#pragma once

#include "call.h"

#include <string>

namespace mscclc::nccl {

/// The functions of the real library that this library calls. They are null if there is no real library.
struct Real {
#define REAL(name, member, result, ...) result (*member)(__VA_ARGS__);
#define ASKED REAL
#include "functions.def"
};

/// Returns the functions of the real library, which is opened at the first call of any function. If it lacks a
/// function, a replacement fails with InvalidUsage and prints the reason.
const Real &real();
/// True if the real library makes a call. `caller` is the return address in a function of this library. If the real
/// library calls its own functions by name, it reaches this library's functions, which must pass the call on.
bool isReal(const void *caller);
/// Returns the handle of the real library, from dlopen; null if there is no real library.
void *realLibrary();
/// Returns the reason why communicators cannot be made: there is no real library, or the process has two. Empty if they
/// can be made.
std::string refusal();

/// Passes a recorded call on to the real library.
int passOn(const Call &call);

} // namespace mscclc::nccl
