// Cuts operations that fusion has merged into operations that single calls of the language make.
#pragma once

#include "ir/program.h"

namespace mscclc::dsl {

/// Returns a program that fusion turns into `program`. Each of its operations comes from one call of the language. If
/// an operation is cut, its first part carries its data sync before, and its last part its data sync after. Takes
/// linear time.
ir::Program cutIntoCalls(const ir::Program &program);

/// True if `cutIntoCalls` would not change the program.
bool isMadeOfCalls(const ir::Program &program);

} // namespace mscclc::dsl
