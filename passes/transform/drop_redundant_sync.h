#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Removes nops that order nothing: no operation since the sync before such a nop has to be over before one that
/// follows up to the sync after it. Nops inside a pipeline's body stay unless another sync stands beside them, as
/// they also order one iteration and the next.
///
/// Requires: lowered data sync, or sync yet to come would be missed. Runs after infer-sync.
/// Provides: nothing. Running it again changes nothing.
Pass createDropRedundantSyncPass();

} // namespace mscclc::passes
