// Finds waits for blocks that a GPU cannot run together with the waiting block.
#pragma once

#include "passes/residency.h"
#include "passes/verify/checked_run.h"
#include "passes/verify/report.h"

namespace mscclc::passes::proof {

/// Runs a launch as on a GPU that holds at most `residency` blocks of each rank. Blocks begin in the order of their
/// numbers; when one ends, the next one begins. If the launch gets stuck, reports that, and begins all other blocks, so
/// that everything else is proven for a GPU that holds all blocks. If `residency` is null, the GPU holds all blocks.
/// Returns false in the same cases as Control::runLaunch().
bool runResident(const Residency *residency, Control &control, Reporter &reporter);

/// Warns of ranks whose launch ends only because blocks begin in the order of their numbers. `residency` may be null.
void warnOfTurns(const Residency *residency, const ProgramIndex &index, Findings &findings);

} // namespace mscclc::passes::proof
