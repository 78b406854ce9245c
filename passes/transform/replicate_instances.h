#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Makes n instances of the program. The result has n times the chunks, channels, semaphores and blocks. Id k of
/// instance i becomes k·n + i. Chunk index k of an operation on s chunks becomes k·n + i·s. Under Replication::None,
/// chunk indices do not change, so all instances move the same data. Refuses an interleaved program whose operations
/// divide a buffer into pieces of different sizes, because one instance would access chunks that another instance
/// writes.
///
/// Requires: nothing. Runs after infer-sync, which needs the chunks that the program names.
/// Provides: a single instance. Running it again changes nothing.
Pass createReplicateInstancesPass();

} // namespace mscclc::passes
