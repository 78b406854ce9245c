// The symmetry of a machine's links.
#pragma once

#include "passes/analysis/rank_symmetry.h"
#include "passes/time/links.h"

namespace mscclc::passes::synthesize {

/// RankSymmetry of links that begin or end at a GPU. Switches have no numbers that look the same from all GPUs. So a
/// GPU sees a switch as the list of its links, each with the distance to the GPU at its end. Symmetry does not hold if
/// a link joins two switches. If symmetry holds and all GPUs are sources, the flows to all GPUs are equally large.
class LinkSymmetry : public RankSymmetry {
public:
  explicit LinkSymmetry(const time::LinkGraph &graph);
};

} // namespace mscclc::passes::synthesize
