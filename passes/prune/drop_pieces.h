// A program without some of its sync.
#pragma once

#include "passes/run/sync_pieces.h"

#include <vector>

namespace mscclc::passes::prune {

/// `index.program` without the pieces that `dropped` is true of.
ir::Program dropPieces(const ProgramIndex &index, const SyncPieces &pieces, const std::vector<bool> &dropped);

} // namespace mscclc::passes::prune
