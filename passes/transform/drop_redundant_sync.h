#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Removes nops that order nothing. Such a nop has no operation since the sync before it that must be complete before
/// an operation between it and the next sync. A nop inside a pipeline's body stays unless another sync is beside it,
/// because it also orders one iteration before the next.
///
/// Example: `copy a→b; nop; copy c→d; nop; copy b→e` becomes `copy a→b; copy c→d; nop; copy b→e`.
///
/// Requires: lowered data sync, because sync that is not yet a nop would be missed. Runs after infer-sync.
/// Provides: nothing. Running it again changes nothing.
Pass createDropRedundantSyncPass();

} // namespace mscclc::passes
