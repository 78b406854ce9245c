// Finds waits for blocks that a GPU cannot run at the same time as the waiting block.
#pragma once

#include "passes/residency.h"
#include "passes/verify/checked_run.h"
#include "passes/verify/report.h"

namespace mscclc::passes::proof {

/// Runs a launch like a GPU that holds at most `residency` blocks of each rank, and begins the next block, in the order
/// of their numbers, when one ends. If the launch gets stuck, reports that, and begins all other blocks. Then
/// everything else is proven for a GPU that holds them. Null: the GPU holds all blocks. Returns false in the same cases
/// as Control::runLaunch().
bool runResident(const Residency *residency, Control &control, Reporter &reporter);

/// Warns of ranks that end only because blocks begin in this order. `residency` may be null.
void warnOfTurns(const Residency *residency, const ProgramIndex &index, Findings &findings);

} // namespace mscclc::passes::proof
