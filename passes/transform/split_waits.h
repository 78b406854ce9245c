#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Splits waits on several channels, and acquires of several semaphores, if another thread of the block may wait on one
/// of them at the same time. Thread i of a block waits on the i-th channel of an operation. If two threads wait on one
/// channel between the same two syncs, each can take the signal of the other. The DSL fuses waits without this check,
/// so its plans may need splitting. The pass fuse makes this check.
///
/// Example: `wait [0, 1]; wait [1]` becomes `wait [0]; wait [1]; wait [1]`.
///
/// Requires: no later pass drops sync. Runs after the last fuse and drop-redundant-sync.
/// Provides: nothing. Running it again changes nothing. It does not change what can be proven without it.
Pass createSplitWaitsPass();

} // namespace mscclc::passes
