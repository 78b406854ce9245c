#pragma once

#include "passes/pass.h"
#include "passes/representative_rank.h"

#include <optional>

namespace mscclc::passes {

/// Makes thread blocks of the statements: their operations, and the synchronisation that they need (sync_plan.h), with
/// channels, semaphores and tables. Each operation and each sync stands at the statement that it is there for.
///
/// Inside a node blocks tell each other by signals, between nodes by those of ports, a rank's own by semaphores. What a
/// port puts is told by the put itself, which waits until its source is free. Packets tell themselves. With a `step`,
/// all but the beginning of each block is one pipeline.
///
/// Requires: statements that are placed, ordered and cut. Provides: thread blocks. Operations of one block that
/// conflict still ask for what infer-sync puts between them.
Pass createSynchronisePass();

/// Makes thread blocks of the statements of rank 0 alone, as the pass does, for an estimate. Moves `program` there.
/// Returns nothing, and leaves `program`, where not all ranks do the same, or a switch is used.
std::optional<RepresentativeRank> synchroniseOneRank(ir::Program &program, Analyses &analyses, const Target &target,
                                                     ir::DiagnosticEngine &diags);

} // namespace mscclc::passes
