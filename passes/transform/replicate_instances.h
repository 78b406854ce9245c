#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Makes n instances of the program: n times the chunks, channels, semaphores and blocks; id k of instance i becomes
/// k·n + i, and chunk index k of an operation on s chunks becomes k·n + i·s. Under Replication::None chunk indexes
/// stay, so that all instances move the same data. An interleaved program whose operations cut a buffer in pieces of
/// different sizes, so that one instance would touch what another writes, is refused.
///
/// Requires: nothing. Runs after infer-sync, which looks at the chunks as the program names them.
/// Provides: a single instance. Running it again changes nothing.
Pass createReplicateInstancesPass();

} // namespace mscclc::passes
