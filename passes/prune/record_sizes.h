// Records a run of a program for each size for which the program is proven.
#pragma once

#include "passes/run/run_record.h"

#include <vector>

namespace mscclc::passes::prune {

/// Returns a record for each size for which the program is proven. Joins those of `classes` whose points meet, such as
/// senders and their receivers. Returns nothing if blocks are stuck, or if a launch of some size touches more than
/// `mostTouched` units of memory. `ofFirstRank`: see recordRun.
std::vector<RunRecord> recordSizes(const ProgramIndex &index, const SyncPoints &points, SyncClasses &classes,
                                   std::uint64_t mostTouched, bool ofFirstRank = false);

} // namespace mscclc::passes::prune
