// Which nodes of a schedule correspond to each other, seen from the ranks of a symmetric program (see
// rank_distances.h). What is planned for rank 0 then holds for all ranks.
#pragma once

#include "passes/schedule/agent_clocks.h"
#include "passes/schedule/nodes.h"
#include "passes/schedule/rank_distances.h"
#include "passes/schedule/statement_graph.h"
#include "passes/schedule/statement_orbits.h"

#include "ir/program.h"

#include <cstdint>
#include <span>
#include <vector>

namespace mscclc::passes::schedule {

/// Says which ranks are planned: rank 0 alone where all ranks do the same, else all of them. What belongs to planned
/// ranks is numbered from 0: their nodes in their order, and their agents, whose numbers stay.
///
/// Ranks do the same if their nodes, in their order, are of the same blocks, touch the same of ranks that are as far
/// away, and need the same nodes of such ranks, in whatever order. The *position* of a node is its number among those
/// of its rank. What a node needs of other ranks stands at earlier positions there: so nodes by position, then rank,
/// are a list order as well, in which no rank's nodes change places. It is the one that is planned.
class Symmetry {
public:
  /// `nodes`: of the statements of `program`, by `graph`. `orbits`: of the statements in their order, whose blocks may
  /// be others by now.
  Symmetry(const ir::Program &program, const StatementGraph &graph, const Nodes &nodes, const RankDistances &distances,
           const StatementOrbits &orbits);

  /// True if rank 0 alone is planned.
  bool holds() const { return holds_; }

  bool isPlanned(std::uint32_t rank) const { return !holds_ || rank == 0; }
  std::uint32_t numPlannedRanks() const { return holds_ ? 1 : ranks_; }
  std::uint32_t numPlannedAgents() const { return holds_ ? blocks_ : nodes_.numAgents(); }
  std::uint32_t numPlannedNodes() const { return holds_ ? nodes_.size() / ranks_ : nodes_.size(); }
  /// The numbers of the planned rank, agent and node that stand for any.
  std::uint32_t plannedRank(std::uint32_t rank) const { return holds_ ? 0 : rank; }
  std::uint32_t plannedAgent(std::uint32_t agent) const { return holds_ ? nodes_.blockOf(agent) : agent; }
  std::uint32_t plannedNode(std::uint32_t node) const { return holds_ ? positions_[node] : node; }

  /// Visits the nodes of planned ranks, in order.
  void eachPlannedNode(auto &&visit) const {
    for (std::uint32_t i = 0, end = numPlannedNodes(); i < end; ++i)
      visit(holds_ ? nodesOf_[i] : i);
  }

  /// What rank `from` is told by the rank or agent that stands for it, about another one: the number that this one has
  /// there. Where all ranks are planned, its own.
  std::uint32_t seenRank(std::uint32_t from, std::uint32_t rank) const { return holds_ ? seenFrom(from)[rank] : rank; }
  std::uint32_t seenAgent(std::uint32_t from, std::uint32_t agent) const {
    return holds_ ? seenFrom(from)[nodes_.rankOf(agent)] * blocks_ + nodes_.blockOf(agent) : agent;
  }
  /// The rank that has this number there.
  std::uint32_t rankSeenAs(std::uint32_t from, std::uint32_t number) const {
    return holds_ ? seenFrom(seenFrom(from)[0])[number] : number;
  }
  /// Adds to `clock`, of a planned rank, what the one has that stands for rank `from`.
  void join(AgentClocks &clocks, Clock &clock, const Clock &told, std::uint32_t from) const {
    if (!holds_ || from == 0)
      clocks.join(clock, told);
    else
      clocks.join(clock, told, seenFrom(from));
  }

  /// How often what is planned is carried out, and what stands in each copy for an agent and a statement.
  std::uint32_t numCopies() const { return holds_ ? ranks_ : 1; }
  /// The copy in which a planned rank has the place of `rank`.
  std::uint32_t copyWith(std::uint32_t rank) const { return holds_ ? seenFrom(rank)[0] : 0; }
  std::uint32_t agentIn(std::uint32_t copy, std::uint32_t agent) const {
    return holds_ ? rankSeenAs(copy, nodes_.rankOf(agent)) * blocks_ + nodes_.blockOf(agent) : agent;
  }
  std::uint32_t statementIn(std::uint32_t copy, std::uint32_t statement) const;

private:
  bool isShown(const ir::Movement &movement, const StatementOrbits &orbits) const;
  bool areNodesAlike(const ir::Movement &movement, const StatementGraph &graph) const;
  bool haveEquallyManyBlocks() const;
  bool findPositions();
  void findNeeds(const StatementGraph &graph, std::uint32_t node, std::vector<std::uint64_t> &needs) const;
  bool isLike(const ir::Movement &movement, const StatementGraph &graph, std::uint32_t node, std::uint32_t first) const;
  bool arePartnersAlike() const;
  /// `node` as a rank sees it; `seen`: seenFrom() that rank.
  std::uint64_t seenNode(std::span<const std::uint32_t> seen, std::uint32_t node) const {
    return std::uint64_t{positions_[node]} * ranks_ + seen[nodes_.rankOf(nodes_.at(node).agent)];
  }
  std::uint32_t nodeOf(std::uint32_t rank, std::uint32_t position) const {
    return nodesOf_[std::size_t{rank} * (nodes_.size() / ranks_) + position];
  }
  /// [rank]: how far away it is.
  std::span<const std::uint32_t> seenFrom(std::uint32_t from) const {
    return std::span(seen_).subspan(std::size_t{from} * ranks_, ranks_);
  }

  const Nodes &nodes_;
  std::uint32_t ranks_, blocks_;         ///< blocks of a rank
  std::vector<std::uint32_t> seen_;      ///< [from][rank]
  std::vector<std::uint32_t> positions_; ///< [node]: among those of its rank
  std::vector<std::uint32_t> nodesOf_;   ///< [rank][position]
  bool holds_ = false;
};

} // namespace mscclc::passes::schedule
