// The symmetry of statements that say what moves.
#pragma once

#include "passes/analyses.h"
#include "passes/analysis/rank_symmetry.h"

#include "ir/program.h"

namespace mscclc::passes::schedule {

/// An analysis (passes/analyses.h) of placed and ordered statements: RankSymmetry of them. A statement needs those that
/// it depends on. It holds only if the buffers of all ranks are as large, and packets lie at the same places in
/// scratch. Blocks do not count.
class StatementSymmetry : public RankSymmetry {
public:
  StatementSymmetry(const ir::Program &program, Analyses &analyses);

  /// True if statements have the same blocks as those that represent them, or none.
  bool keepsBlocks(const ir::Movement &movement) const;
  /// This one, if it keeps blocks; else one that does not hold.
  StatementSymmetry withBlocks(const ir::Movement &movement) const;
};

} // namespace mscclc::passes::schedule
