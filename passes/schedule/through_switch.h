// Finds statements that the switch of a node can do.
#pragma once

#include "ir/movement.h"

namespace mscclc::ir {
struct Program;
}

namespace mscclc::passes::schedule {

/// Returns the statements of `program`, with `via switch` at those that a switch can do for at least three ranks of a
/// node. Only statements that leave open how they are done are changed. These are:
/// - a copy to the same chunks of the same buffer on several ranks. Consecutive copies of one place count as one
///   statement, unless their destinations overlap. If the source lies at these chunks on its own rank, this rank is
///   added to the others. If another statement also writes one of the destinations on another rank, the copies stay
///   puts, which mostly saves a sync. Copies that no switch does become one copy for each destination;
/// - a sum, minimum or maximum of the same chunks of the same buffer on several ranks. A sum is changed only if the
///   program allows any order.
///
/// Requires: the meaning of `program` is checked, and nothing is placed.
///
/// Only `statements` and `places` of the result are set.
ir::Movement throughSwitch(const ir::Program &program);

/// True if throughSwitch() finds such a statement.
bool canUseSwitch(const ir::Program &program);

} // namespace mscclc::passes::schedule
