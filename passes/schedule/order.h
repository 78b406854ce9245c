#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Puts the statements into the order of a schedule: one list for all ranks. Each thread block does its part in this
/// order. So two blocks can never wait for each other.
///
/// Statements are sorted by phase (StatementGraph::Phase), so a statement comes after everything that it depends on.
/// The phase is the length of the longest chain of dependences before the statement. Copies that bring the first
/// operand to a reduction of the same rank do not count: with a fixed order of sums, only some ranks need such copies.
/// Within a phase, statements that pass packets on come first, because other ranks wait for these packets. All other
/// statements are ordered by the distance, in ranks, from the rank that executes the statement to the rank that it
/// reaches. The order of statements in the source has no effect. So the ranks of a symmetric program do the same in the
/// same order. In an all-pairs program no two ranks address the same peer at the same time. Example with 4 ranks: rank
/// 0 sends to 1, 2, 3; rank 1 sends to 2, 3, 0.
///
/// This pass comes right after place, because the distances start at the rank that executes a statement. It comes
/// before cut, so that programs that differ only in their blocks share the order.
///
/// Requires: placed statements.
Pass createOrderPass();

} // namespace mscclc::passes
