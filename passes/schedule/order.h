#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Puts the statements into the order of a schedule: one list for all ranks. Each thread block does its part in this
/// order. So two blocks can never wait for each other.
///
/// A statement comes after everything that it depends on, in its phase (StatementGraph::Phase). That is the length of
/// the longest chain of dependences before it, but for copies that bring the first operand of a reduction of their own
/// rank: a fixed order of sums needs them on some ranks alone. Within a phase, statements that pass packets on come
/// first, because other ranks wait for these. The rest is ordered by the distance, in ranks, from the rank that
/// executes the statement to the rank that it reaches. The order of the source never matters. So the ranks of a
/// symmetric program do the same in the same order. In an all-pairs program no two ranks address the same peer at the
/// same time. Example with 4 ranks: rank 0 sends to 1, 2, 3; rank 1 sends to 2, 3, 0.
///
/// Stands right after place, because the distances start at the rank that executes a statement. Stands before cut, so
/// that programs that differ only in their blocks share the order.
///
/// Requires: placed statements.
Pass createOrderPass();

} // namespace mscclc::passes
