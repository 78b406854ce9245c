// Whether blocks wait for one another that a GPU does not hold at once.
#pragma once

#include "passes/residency.h"
#include "passes/verify/checked_run.h"
#include "passes/verify/report.h"

namespace mscclc::passes::proof {

/// Runs a launch as a GPU does that holds no more than `residency` says of each rank, and begins the next block, in the
/// order of their numbers, where one ends. Where that stops, it is reported, and all others begin: what is proven
/// besides is proven of a GPU that holds them. Null: it holds all. False as Control::runLaunch().
bool runResident(const Residency *residency, Control &control, Reporter &reporter);

/// Warns of ranks that end only because blocks begin in this order. `residency` may be null.
void warnOfTurns(const Residency *residency, const ProgramIndex &index, Findings &findings);

} // namespace mscclc::passes::proof
