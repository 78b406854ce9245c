// Packs spanning trees into a graph without switches.
#pragma once

#include "passes/synthesize/forest.h"
#include "passes/synthesize/unit_graph.h"

namespace mscclc::passes::synthesize {

/// Returns trees from UnitGraph::roots. The number of trees over an edge is at most its capacity. Trees grow in
/// breadth, so they have little depth if the capacities allow it. Requires: no switch is connected, and
/// UnitGraph::reachesAll().
std::vector<Tree> packTrees(UnitGraph graph);

} // namespace mscclc::passes::synthesize
