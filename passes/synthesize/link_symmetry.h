// The symmetry of a machine's links.
#pragma once

#include "passes/analysis/rank_symmetry.h"
#include "passes/time/links.h"

namespace mscclc::passes::synthesize {

/// RankSymmetry of links that begin or end at a GPU. Switches have no numbers that GPUs could see them by. So a switch
/// is seen as the list of its links, with the GPUs at their ends as they are seen. Symmetry does not hold if a link
/// joins two switches. If it holds, a flow to one GPU is as large as the flow to any other one, if all GPUs are
/// sources.
class LinkSymmetry : public RankSymmetry {
public:
  explicit LinkSymmetry(const time::LinkGraph &graph);
};

} // namespace mscclc::passes::synthesize
