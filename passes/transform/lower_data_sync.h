#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Turns the sync that signals, waits, semaphore operations and flushes ask for into nops before and after them.
///
/// Requires: nothing. Runs after fuse, which drops what a neighbour makes redundant.
/// Provides: lowered data sync: no operation asks for sync any more. Running it again changes nothing.
Pass createLowerDataSyncPass();

/// True if no statement is left, and no operation carries a DataSync.
bool isDataSyncLowered(const ir::Program &program);

} // namespace mscclc::passes
