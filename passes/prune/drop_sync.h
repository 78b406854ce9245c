// Removes selected sync points from a program.
#pragma once

#include "passes/run/sync_points.h"

#include <vector>

namespace mscclc::passes::prune {

/// Returns `index.program` without the points for which `dropped` is true.
ir::Program dropSync(const ProgramIndex &index, const SyncPoints &points, const std::vector<bool> &dropped);

} // namespace mscclc::passes::prune
