// Finds out whether rank 0 represents all ranks of a launch on a machine.
#pragma once

#include "passes/representative_rank.h"
#include "passes/time/machine.h"

#include "ir/program_index.h"

#include <optional>

namespace mscclc::passes::time {

/// Returns the other ends of rank 0's channels, if all ranks of the program take the same time on `machine`; otherwise
/// nothing. The ranks may still differ in the order in which a proxy takes simultaneous requests.
std::optional<OtherEnds> foldRanks(const ir::ProgramIndex &index, const Machine &machine);

} // namespace mscclc::passes::time
