#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Merges adjacent operations of a block from left to right until no rule applies. Removes sync that a neighbour makes
/// redundant. The rules are in fusion_rules.h and elide_sync.cpp. As in the DSL, one walk applies both: merging decides
/// which sync has a neighbour, and the remaining sync decides what merges. Bodies of pipelines are fused first, each
/// separately.
///
/// Two kinds of operations stay apart. A sum of late packets (late_packets.h) does not merge with an earlier sum,
/// because that one can run before they come. The program must ask for this, or be of Schedule::Auto. Operations that
/// are ordered by one thread do not merge if this order would be lost (thread_order.h). Does nothing if the program
/// switches fusion off.
///
/// Example: `signal [0]; signal [1]` becomes `signal [0, 1]`, in which thread i does the i-th signal.
///
/// Requires: thread blocks. Runs before lower-data-sync, while operations still carry their sync, which does not
/// separate them.
/// Provides: no two neighbours that a rule merges, unless they must stay apart. A second run changes nothing, with two
/// exceptions. Flushes of one channel that merged before sync was lowered look like a single flush. Sync that was added
/// in between may order operations that one thread ordered before.
Pass createFusePass();

} // namespace mscclc::passes
