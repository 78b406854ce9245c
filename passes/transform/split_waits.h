#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Splits waits on several channels, and acquires of several semaphores, if another thread of the block may wait on one
/// of them at the same time, between the same two syncs. Thread i of a block waits on the i-th channel of an operation.
/// Two threads that wait on one channel at the same time take each other's signals. The DSL fuses waits without this
/// check, so its plans may need splitting; the pass fuse checks it.
///
/// Example: `wait [0, 1]; wait [1]` becomes `wait [0]; wait [1]; wait [1]`.
///
/// Requires: no later pass drops sync. Runs after the last fuse and drop-redundant-sync.
/// Provides: nothing. Running it again changes nothing, and what can be proven without it is unchanged.
Pass createSplitWaitsPass();

} // namespace mscclc::passes
