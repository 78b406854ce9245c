// Removes some sync from a program.
#pragma once

#include "passes/run/sync_pieces.h"

#include <vector>

namespace mscclc::passes::prune {

/// Returns `index.program` without the pieces for which `dropped` is true.
ir::Program dropPieces(const ProgramIndex &index, const SyncPieces &pieces, const std::vector<bool> &dropped);

} // namespace mscclc::passes::prune
