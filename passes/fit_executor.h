#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Makes the program fit the executor's fixed arrays: operations with too many channels, semaphores or chunks become
/// several that mean the same, with nops where one needs another's result. What cannot be split (too many operations,
/// channels or remote buffers in a block, barriers on a rank, threads, bytes behind an offset, chunks of reused scratch)
/// is refused.
///
/// Requires: lowered data sync and a single instance: it counts what the plan will hold.
/// Provides: no limit of the target is passed. Running it again changes nothing.
Pass createFitExecutorPass();

} // namespace mscclc::passes
