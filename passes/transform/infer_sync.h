#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Inserts a nop before each operation that conflicts with an earlier operation of its block. Two operations conflict
/// if one writes what the other reads or writes, and no nop or barrier is between them. The body of a pipeline is
/// treated as a separate block. In the block around it, the whole pipeline is treated as one operation. Does nothing if
/// auto sync is off.
///
/// Example: `copy a→b; copy b→c` becomes `copy a→b; nop; copy b→c`.
///
/// Accesses to memory of the block's own rank count. In a program of Schedule::Auto, accesses to memory of other ranks
/// count, too, if different threads make them: for example, a put and a multicast to the same chunk.
///
/// Packets order themselves, so two packet accesses conflict only if one reads packets without waiting for them. But a
/// packet access conflicts with an earlier plain access to the same memory. A chunk of packets takes twice the memory.
///
/// Requires: lowered data sync, because otherwise nops would be doubled. Runs before replicate-instances.
/// Provides: no two conflicting accesses of a block between two syncs. Running it again changes nothing.
Pass createInferSyncPass();

} // namespace mscclc::passes
