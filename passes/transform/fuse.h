#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Merges adjacent operations of a block, from left to right, until no rule applies. Removes sync that a neighbour
/// makes redundant. The rules are in fusion_rules.h and elide_sync.cpp. As in the DSL, one walk applies both kinds of
/// rules: merging decides which operations are neighbours of a sync, and the remaining sync decides which operations
/// merge. The bodies of pipelines are fused first, each separately.
///
/// Some operations stay separate. A sum of late packets (late_packets.h) does not merge with an earlier sum, because
/// the earlier sum can run before the late packets arrive. This is so only if the program asks for it, or has
/// Schedule::Auto. If two operations are in order only because one thread does both, they merge only if this order is
/// kept (thread_order.h). Does nothing if the program switches fusion off.
///
/// Example: `signal [0]; signal [1]` becomes `signal [0, 1]`, in which thread i does the i-th signal.
///
/// Requires: thread blocks. Runs before lower-data-sync, because sync that operations still carry does not separate
/// them.
/// Provides: no rule can merge two neighbours, unless they must stay separate. A second run changes nothing, with two
/// exceptions. Flushes of one channel that merged before sync was lowered look like a single flush. And sync that was
/// added between the two runs may order operations that one thread ordered before.
Pass createFusePass();

} // namespace mscclc::passes
