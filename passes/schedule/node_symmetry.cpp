#include "passes/schedule/node_symmetry.h"

#include <algorithm>

namespace mscclc::passes::schedule {
namespace {

/// The nodes, in the form that RankSymmetry requires.
struct NodeStage {
  const ir::Movement &movement;
  const StatementGraph &graph;
  const Nodes &nodes;
  const RankDistances &distances;

  std::uint32_t rankOf(std::uint32_t node) const { return nodes.rankOf(nodes.at(node).agent); }

  bool isAs(std::uint32_t node, std::uint32_t first) const {
    const Nodes::Node &mine = nodes.at(node), &theirs = nodes.at(first);
    const ir::Move &a = movement.statements[mine.statement], &b = movement.statements[theirs.statement];
    const auto isSameTouch = [&, rank = nodes.rankOf(mine.agent)](const Touch &x, const Touch &y) {
      return distances.between(rank, x.rank) == y.rank && x.inScratch() == y.inScratch() && x.access == y.access &&
             x.form == y.form;
    };
    return nodes.blockOf(mine.agent) == nodes.blockOf(theirs.agent) && mine.arrives == theirs.arrives &&
           nodes.countAtArrival(node) == nodes.countAtArrival(first) && a.kind == b.kind && a.via == b.via &&
           a.packets == b.packets && a.firstAfter == b.firstAfter &&
           std::ranges::equal(graph.touches(mine.statement), graph.touches(theirs.statement), isSameTouch);
  }

  void eachNeed(std::uint32_t node, auto &&visit) const {
    const Nodes::Node &place = nodes.at(node);
    if (place.arrives)
      return visit(nodes.ofStatement(place.statement), 0);
    for (const Dependence &d : graph.dependences(place.statement))
      nodes.eachCompleting(d,
                           [&](std::uint32_t completing) { visit(completing, static_cast<std::uint64_t>(d.hazard)); });
  }
};

} // namespace

NodeSymmetry::NodeSymmetry(const ir::Program &program, const StatementGraph &graph, const Nodes &nodes,
                           const RankDistances &distances, const StatementSymmetry &statements)
    : RankSymmetry(distances, nodes.size()), nodes_(nodes), blocks_(nodes.agentsOf(0).second) {
  const ir::Movement &movement = program.movement;
  if (!distances.areSymmetric() || !distances.keepNodes(movement) || !haveEquallyManyBlocks() ||
      !arePartnersImages(distances))
    return;
  // If nothing arrives, nodes are the same as statements.
  if (statements.holds() && nodes.size() == movement.statements.size() && statements.keepsBlocks(movement))
    RankSymmetry::operator=(statements);
  else
    findOut(NodeStage{movement, graph, nodes, distances});
}

bool NodeSymmetry::haveEquallyManyBlocks() const {
  for (std::uint32_t r = 0; r < numRanks(); ++r)
    if (nodes_.agentsOf(r).first != r * blocks_ || nodes_.agentsOf(r).second != (r + 1) * blocks_)
      return false;
  return true;
}

/// True if equivalent agents have partners with the same block number on each rank. This checks agents that are
/// distributed to several blocks of a rank.
bool NodeSymmetry::arePartnersImages(const RankDistances &distances) const {
  for (std::uint32_t r = 1; r < numRanks(); ++r)
    for (const std::uint32_t agent : nodes_.sharedOutTo(r)) {
      const std::uint32_t first = distances.between(r, nodes_.rankOf(agent)) * blocks_ + nodes_.blockOf(agent);
      if (nodes_.blockOf(nodes_.partnerOf(agent, r)) != nodes_.blockOf(nodes_.partnerOf(first, 0)))
        return false;
    }
  return true;
}

void NodeSymmetry::join(AgentClocks &clocks, Clock &clock, const Clock &told, std::uint32_t from) const {
  if (isRepresentative(from))
    return clocks.join(clock, told);
  std::vector<std::uint32_t> seen(numRanks());
  for (std::uint32_t rank = 0; rank < numRanks(); ++rank)
    seen[rank] = seenFrom(from, rank);
  clocks.join(clock, told, seen);
}

} // namespace mscclc::passes::schedule
