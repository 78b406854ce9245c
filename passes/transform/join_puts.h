#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Joins puts of a port that follow one another on the same channels, if each brings chunks behind those of the one
/// before to the place behind it. A proxy then serves one request instead of several.
///
/// Example: `put port [0] remote0[0:1] <- input[0:1]; pws port [0] remote0[1:1] <- input[1:1]` becomes
/// `pws port [0] remote0[0:2] <- input[0:2]`.
///
/// Puts in pipelines stay as they are, because the largest chunk of a pipeline decides how often it runs. So do those
/// of thread-block groups, which divide each put among blocks.
///
/// Runs after replicate-instances, because instances share out each put. Instances of a joined put would take other
/// chunks than those of the operations that write them.
///
/// Requires: sync is lowered, and instances are made. Provides: nothing. Running it again changes nothing.
Pass createJoinPutsPass();

} // namespace mscclc::passes
