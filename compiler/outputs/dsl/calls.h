// Operations as calls of the language make them: what fusion merged is cut again.
#pragma once

#include "ir/program.h"

namespace mscclc::dsl {

/// The program whose neighbours fuse to `program`: each operation is what one call of the language makes. Data sync of
/// an operation that is cut is asked for by its first and last part. Linear.
ir::Program cutIntoCalls(const ir::Program &program);

/// True if `cutIntoCalls` leaves the program as it is.
bool isMadeOfCalls(const ir::Program &program);

} // namespace mscclc::dsl
