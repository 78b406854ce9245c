// Records a program in the sizes in which it is proven.
#pragma once

#include "passes/run/run_record.h"

#include <vector>

namespace mscclc::passes::prune {

/// A record of each size in which the program is proven; joins in `classes` what meets. Nothing if blocks are stuck, or
/// if a size touches more than `mostTouched` units of memory. `ofFirstRank`: see recordRun.
std::vector<RunRecord> recordSizes(const ProgramIndex &index, const SyncPoints &points, SyncClasses &classes,
                                   std::uint64_t mostTouched, bool ofFirstRank = false);

} // namespace mscclc::passes::prune
