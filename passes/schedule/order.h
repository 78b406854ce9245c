#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Puts the statements into the order of a schedule: one list for all ranks, of which each thread block does its part
/// in this order. So no two blocks can wait for each other.
///
/// A statement comes after all that it depends on, at its level: the length of the longest chain of dependences before
/// it. Of one level, those come first that pass packets on, as other ranks wait for these. Then they are ordered by how
/// far, in ranks, the one that they reach is from the one that executes them, never by where they were written: so the
/// ranks of a symmetric program do the same in the same order, and in an all-pairs one no two turn to the same peer at
/// once.
///
/// Requires: placed statements.
Pass createOrderPass();

} // namespace mscclc::passes
