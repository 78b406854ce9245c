#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Inserts a nop before each operation that conflicts with an earlier one of its block. Two operations conflict if one
/// writes what the other reads or writes, with no nop or barrier in between. The body of a pipeline is a block of its
/// own, and the whole pipeline is one operation of the block around it. Does nothing if auto sync is off.
///
/// Example: `copy a→b; copy b→c` becomes `copy a→b; nop; copy b→c`.
///
/// Memory of the block's own rank counts. In a program of Schedule::Auto, memory of other ranks counts, too, if
/// different threads do the two accesses: a put and a multicast to the same chunk.
///
/// Packets carry their own order, so their accesses are not recorded. But a packet access that meets an earlier plain
/// access (at twice the scale) is a conflict like any other.
///
/// Requires: lowered data sync, because otherwise nops would be doubled. Runs before replicate-instances.
/// Provides: no two conflicting accesses of a block between two syncs. Running it again changes nothing.
Pass createInferSyncPass();

} // namespace mscclc::passes
