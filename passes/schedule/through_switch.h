// Finds statements that the switch of a node can do.
#pragma once

#include "ir/movement.h"

namespace mscclc::ir {
struct Program;
}

namespace mscclc::passes::schedule {

/// The statements of `program`, whose meaning is checked and of which nothing is placed, with `via switch` where they
/// leave open how they are done and a switch can do it for three ranks or more of a node:
/// - a copy to the same chunks of the same buffer on several ranks. Copies of one place, one after the other, count as
///   one statement, unless what they write overlaps; what no switch does becomes a copy for each destination. The rank
///   that has the source is added to the others if the source lies at these chunks there. What another
///   statement writes, too, on another rank stays as it is, which mostly saves a sync;
/// - a sum, minimum or maximum of the same chunks of the same buffer on several ranks, where any order of its operands
///   will do: of a sum if the program allows any order.
///
/// Only `statements` and `places` of the result are set.
ir::Movement throughSwitch(const ir::Program &program);

/// True if throughSwitch() finds such a statement.
bool canUseSwitch(const ir::Program &program);

} // namespace mscclc::passes::schedule
