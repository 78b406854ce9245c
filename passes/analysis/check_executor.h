#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Refuses what the executor takes and then gets wrong, or warns where the plan can be right all the same.
///
/// Requires: lowered data sync and a single instance: it looks at what the plan will hold.
/// Provides: nothing; it only reports.
Pass createCheckExecutorPass();

} // namespace mscclc::passes
