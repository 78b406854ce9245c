#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Removes nops that order nothing. A nop is needed if some operation between the previous sync and the nop must
/// complete before some operation between the nop and the next sync. A nop in the body of a pipeline also orders each
/// iteration before the next one. So such a nop is removed only if another sync follows it directly.
///
/// Example: `copy a→b; nop; copy c→d; nop; copy b→e` becomes `copy a→b; copy c→d; nop; copy b→e`.
///
/// Requires: lowered data sync, because sync that is not yet a nop would be missed. Runs after infer-sync.
/// Provides: nothing. Running it again changes nothing.
Pass createDropRedundantSyncPass();

} // namespace mscclc::passes
