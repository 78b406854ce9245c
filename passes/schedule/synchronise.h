#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Makes thread blocks of the statements: their operations, and the synchronisation that they need (sync_plan.h), with
/// channels, semaphores and tables. Each operation and each sync stands at the statement that it is there for.
///
/// Inside a node blocks tell each other by signals, between nodes by those of ports, a rank's own by semaphores. What a
/// port puts is told by the put itself, which waits until its source is free. Packets tell themselves. With a `step`,
/// all but the beginning of each block is one pipeline.
///
/// `mayFold`: the program is only to be estimated. Where its ranks all do the same, rank 0 alone gets blocks and
/// channels then (ir::FoldedRanks).
///
/// Requires: statements that are placed, ordered and cut. Provides: thread blocks. Operations of one block that
/// conflict still ask for what infer-sync puts between them.
Pass createSynchronisePass(bool mayFold = false);

} // namespace mscclc::passes
