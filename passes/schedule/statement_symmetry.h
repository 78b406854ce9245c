// The symmetry of statements of data movement.
#pragma once

#include "passes/analyses.h"
#include "passes/analysis/rank_symmetry.h"

#include "ir/program.h"

namespace mscclc::passes::schedule {

/// RankSymmetry of placed and ordered statements. It is an analysis (passes/analyses.h). A statement needs the
/// statements on which it depends. Symmetry holds only if the buffers of all ranks have the same sizes, and packets
/// have the same places in scratch. Blocks are ignored.
class StatementSymmetry : public RankSymmetry {
public:
  StatementSymmetry(const ir::Program &program, Analyses &analyses);

  /// True if each statement has the same block as its representative, or both have none.
  bool keepsBlocks(const ir::Movement &movement) const;
  /// Returns this symmetry if keepsBlocks() is true; otherwise a symmetry that does not hold.
  StatementSymmetry withBlocks(const ir::Movement &movement) const;
};

} // namespace mscclc::passes::schedule
