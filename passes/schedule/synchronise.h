#pragma once

#include "passes/pass.h"
#include "passes/representative_rank.h"

#include <optional>

namespace mscclc::passes {

/// Makes thread blocks of the statements: their operations, and the synchronisation that they need (sync_plan.h), with
/// channels, semaphores and tables. Each operation and each sync has the location of the statement that needs it.
///
/// Blocks synchronise by signals inside a node, by signals of ports between nodes, and by semaphores inside a rank. A
/// port's put carries its own signal, and waits until its source is free. Packets need no signal. With a `step`,
/// everything except for the beginning of each block is one pipeline.
///
/// This is the last pass of a schedule, because the needed sync depends on the rank, the order, the block and the
/// places of all statements. The passes of transform/, which come after it, work on thread blocks.
///
/// Requires: placed, ordered and cut statements. Provides: thread blocks. Conflicting operations of one block still
/// need the sync that infer-sync adds.
Pass createSynchronisePass();

/// Does the same as the pass, but makes only the thread blocks of rank 0, for an estimate. Moves `program` into the
/// result. Returns nothing, and leaves `program` unchanged, if not all ranks are equivalent or if a switch is used.
std::optional<RepresentativeRank> synchroniseOneRank(ir::Program &program, Analyses &analyses, const Target &target,
                                                     ir::DiagnosticEngine &diags);

} // namespace mscclc::passes
