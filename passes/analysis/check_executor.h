#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Refuses programs that the executor accepts but executes wrongly. Warns if the plan may be right all the same.
///
/// Requires: lowered data sync and a single instance, because it checks the operations of the final plan.
/// Provides: nothing; it only reports.
Pass createCheckExecutorPass();

} // namespace mscclc::passes
