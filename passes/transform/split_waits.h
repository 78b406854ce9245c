#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Splits waits of several channels, and acquires of several semaphores, where another thread of the block waits on one
/// of these too between the two syncs around them. Thread i of a block waits on the i-th channel of an operation, and
/// two threads that wait on one channel at once take each other's signals. The DSL fuses waits without a look at that,
/// so its plans may come so; our own fuse does not.
///
/// Requires: no sync that is dropped later. Runs after the last fuse and drop-redundant-sync.
/// Provides: nothing. Running it again changes nothing, and what is proven without it is left as it is.
Pass createSplitWaitsPass();

} // namespace mscclc::passes
