// Finds statements that the switch of a node can do.
#pragma once

#include "ir/movement.h"

namespace mscclc::ir {
struct Program;
}

namespace mscclc::passes::schedule {

/// Returns the statements of `program`. Statements that a switch can do for at least three ranks of a node get `via
/// switch`, if they leave open how they are executed. Such statements are:
/// - a copy to the same chunks of the same buffer on several ranks. Consecutive copies of one place count as one
///   statement, unless their destinations overlap. If the source is at the same chunks of the same buffer on its rank,
///   this rank is added to the others. If another statement also writes one of the destinations on another rank, the
///   copies stay puts, which mostly saves a sync. Copies that no switch does become one copy for each destination;
/// - a sum, minimum or maximum of the same chunks of the same buffer on several ranks. A sum is changed only if the
///   program allows any order.
///
/// Requires: the meaning of `program` is checked, and nothing is placed.
///
/// Only `statements` and `places` of the result are set.
ir::Movement throughSwitch(const ir::Program &program);

/// True if throughSwitch() lets at least one more statement use the switch.
bool canUseSwitch(const ir::Program &program);

} // namespace mscclc::passes::schedule
