// Cuts operations that fusion has merged into operations that one call of the language makes.
#pragma once

#include "ir/program.h"

namespace mscclc::dsl {

/// Returns the program that fuses to `program`, where each operation comes from one call of the language. The first and
/// last part of an operation that is cut carry its data sync. Linear.
ir::Program cutIntoCalls(const ir::Program &program);

/// True if `cutIntoCalls` would not change the program.
bool isMadeOfCalls(const ir::Program &program);

} // namespace mscclc::dsl
