#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Merges adjacent operations of a block, left to right until no rule applies, and drops sync that a neighbour makes
/// redundant. The rules are in fusion_rules.h and elide_sync.cpp. One walk applies both, as the DSL's does: what merges
/// decides which sync has a neighbour, and what sync is left decides what merges. Bodies of pipelines are fused first,
/// each on its own. Where the program says so, and in any of Schedule::Auto, a sum of packets that come late stays
/// apart from one of others (late_packets.h), which is done until then. What one thread ordered stays in order:
/// operations whose merging would lose that stay apart (thread_order.h). Does nothing where the program switches fusion
/// off.
///
/// Requires: thread blocks. Runs before lower-data-sync, while sync still sits on operations and does not part them.
/// Provides: no two neighbours left that a rule merges and nothing keeps apart. Running it again changes nothing, but
/// where flushes of one channel merged and sync is not lowered yet (they do not show that they were several), or where
/// sync that was put in since orders what one thread did.
Pass createFusePass();

} // namespace mscclc::passes
