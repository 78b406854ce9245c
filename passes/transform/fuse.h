#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Merges adjacent operations of a block from left to right until no rule applies. Removes sync that a neighbour makes
/// redundant. The rules are in fusion_rules.h and elide_sync.cpp. As in the DSL, one walk applies both: merging decides
/// which sync has a neighbour, and the remaining sync decides what merges. Bodies of pipelines are fused first, each
/// separately.
///
/// Two kinds of operations stay apart. A sum of packets that come late stays apart from another sum (late_packets.h),
/// which is done in the meantime, if the program asks for it or is of Schedule::Auto. Operations stay apart if merging
/// would lose an order that one thread gave them (thread_order.h). Does nothing if the program switches fusion off.
///
/// Example: `signal [0]; signal [1]` becomes `signal [0, 1]`, in which thread i does the i-th signal.
///
/// Requires: thread blocks. Runs before lower-data-sync, while operations still carry their sync, which does not
/// separate them.
/// Provides: no two neighbours that a rule merges, unless they must stay apart. Running it again changes nothing, with
/// two exceptions: flushes of one channel that merged while sync was not lowered (a merged one looks like a single
/// one), and sync that was added in between and orders what one thread did.
Pass createFusePass();

} // namespace mscclc::passes
