#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Lets slots of scratch share a place, and drops those that nothing uses. A slot is what statements take of scratch at
/// once: one that place has made, or a piece of a Buffer. Each slot takes the first place where all that uses the slots
/// in it is over before its own first write begins, on every rank.
///
/// No sync is added for that. A use is over if dependences lead from it to the write, over other blocks: what these
/// dependences need tells of all that a block did before, and stays whatever passes drop. Between launches scratch is
/// ordered as a whole, so it does not matter there who uses which part (launches.h).
///
/// Slots that share are of one size. The slots of a rank are counted in the order of their first writes. Ranks whose
/// slots have the same sizes in this order lay out their places alike: there, two slots share only if they may on each
/// of these ranks. A program that has double scratch, or packets, stays as it is: a slot of packets is used once in
/// each launch. So does one with places in scratch that overlap and are not the same, one that reaches scratch through
/// the switch, and one with too many slots to compare.
///
/// Requires: statements that are placed, ordered and cut. The dependences that sharing adds follow from those before.
Pass createShareScratchPass();

} // namespace mscclc::passes
