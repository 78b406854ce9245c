#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Puts a nop before each operation that conflicts with an earlier one of its block: a read or write that meets a
/// write, or a write that meets a read, with no nop or barrier in between. The body of a pipeline is a block of its
/// own, and the whole pipeline one operation of the block around it. Does nothing where auto sync is switched off.
///
/// Of memory, the block's rank's own counts. In a program of Schedule::Auto that of other ranks does, too, where one
/// thread does not do both: a put and a multicast to the same chunk.
///
/// A packet carries its own order, so packet accesses are not recorded; what they meet of earlier plain accesses (at
/// twice the scale) is a conflict like any other.
///
/// Requires: lowered data sync, or nops would be doubled. Runs before replicate-instances.
/// Provides: no two conflicting accesses of a block between two syncs. Running it again changes nothing.
Pass createInferSyncPass();

} // namespace mscclc::passes
