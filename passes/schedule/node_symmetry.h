// The symmetry of the nodes of a schedule.
#pragma once

#include "passes/schedule/agent_clocks.h"
#include "passes/schedule/nodes.h"
#include "passes/schedule/statement_graph.h"
#include "passes/schedule/statement_symmetry.h"

#include "ir/program.h"

#include <cstdint>
#include <vector>

namespace mscclc::passes::schedule {

/// RankSymmetry of nodes, of their agents, and of the agents' partners. A node needs the nodes that must be over before
/// it may begin. Symmetry holds only if nodes have the same blocks as their representatives. Then the plan for the
/// agents of rank 0, in the order of their nodes, applies to all ranks.
class NodeSymmetry : public RankSymmetry {
public:
  /// `nodes`: the nodes of the statements of `program`, by `graph`. `statements`: the symmetry of these statements in
  /// their order. Blocks of statements may have changed since then.
  NodeSymmetry(const ir::Program &program, const StatementGraph &graph, const Nodes &nodes,
               const RankDistances &distances, const StatementSymmetry &statements);

  /// Returns the number of agents of representatives. These agents keep their numbers, and come first.
  std::uint32_t numRepresentativeAgents() const { return holds() ? blocks_ : nodes_.numAgents(); }
  std::uint32_t representativeAgent(std::uint32_t agent) const { return holds() ? nodes_.blockOf(agent) : agent; }
  /// Returns the number by which rank `from` sees `agent`.
  std::uint32_t agentSeenFrom(std::uint32_t from, std::uint32_t agent) const {
    return holds() ? seenFrom(from, nodes_.rankOf(agent)) * blocks_ + nodes_.blockOf(agent) : agent;
  }
  std::uint32_t imageOfAgent(std::uint32_t agent, std::uint32_t to) const {
    return holds() ? imageOfRank(nodes_.rankOf(agent), to) * blocks_ + nodes_.blockOf(agent) : agent;
  }
  std::uint32_t imageOfStatement(std::uint32_t statement, std::uint32_t to) const {
    if (!holds())
      return statement;
    const std::uint32_t node = nodes_.ofStatement(statement), rank = nodes_.rankOf(nodes_.at(node).agent);
    return nodes_.at(itemAt(imageOfRank(rank, to), positionOf(node))).statement;
  }

  /// Adds the knowledge of rank `from` to `clock`, which belongs to a representative. `told`: the clock of the
  /// representative of `from`.
  void join(AgentClocks &clocks, Clock &clock, const Clock &told, std::uint32_t from) const;

private:
  bool haveEquallyManyBlocks() const;
  bool arePartnersImages(const RankDistances &distances) const;

  const Nodes &nodes_;
  std::uint32_t blocks_; ///< blocks of a rank
};

} // namespace mscclc::passes::schedule
