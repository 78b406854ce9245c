// Packs spanning trees into a graph without switches.
#pragma once

#include "passes/synthesize/forest.h"
#include "passes/synthesize/unit_graph.h"

namespace mscclc::passes::synthesize {

/// Returns trees of UnitGraph::roots that use each capacity at most as often as it is wide. Trees grow in breadth, so
/// they are low where the capacities allow it. Requires: no switch is connected, and UnitGraph::reachesAll().
std::vector<Tree> packTrees(UnitGraph graph);

} // namespace mscclc::passes::synthesize
