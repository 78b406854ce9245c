#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Joins consecutive puts of a port on the same channels, if the sources and destinations of each put directly follow
/// those of the previous put. A proxy then serves one request instead of several.
///
/// Example: `put port [0] remote0[0:1] <- input[0:1]; pws port [0] remote0[1:1] <- input[1:1]` becomes `pws port [0]
/// remote0[0:2] <- input[0:2]`.
///
/// Puts in pipelines are not joined, because the largest chunk of a pipeline decides how often the pipeline runs. Puts
/// of thread-block groups are not joined, because the blocks of the group divide each put.
///
/// Runs after replicate-instances, because instances divide each put. Instances of a joined put would move other chunks
/// than the operations that write these chunks.
///
/// Requires: lowered data sync, and a single instance. Provides: nothing. Running it again changes nothing.
Pass createJoinPutsPass();

} // namespace mscclc::passes
