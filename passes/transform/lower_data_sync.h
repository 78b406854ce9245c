#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Replaces the sync of signals, waits, semaphore operations and flushes by nops before and after these operations.
///
/// Example: `signal [0] sync before` becomes `nop; signal [0]`.
///
/// Requires: nothing. Runs after fuse, which removes sync that a neighbour makes redundant.
/// Provides: lowered data sync: no operation carries sync. Running it again changes nothing.
Pass createLowerDataSyncPass();

/// True if the program has no statements, and no operation carries a DataSync.
bool isDataSyncLowered(const ir::Program &program);

} // namespace mscclc::passes
