#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Splits waits of several channels, and acquires of several semaphores, where something else between the two syncs
/// around them waits on one of these too. Thread i of a block waits on the i-th channel of an operation, and two threads
/// that wait on one channel at once take each other's signals. Fusion, as the DSL does it, does not look at that.
///
/// Requires: no sync that is dropped later. Runs behind the last fuse and drop-redundant-sync.
/// Provides: nothing. Running it again changes nothing.
Pass createPartWaitsPass();

} // namespace mscclc::passes
