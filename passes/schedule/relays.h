// Blocks whose syncs need more channels than an executor's block may have. Other blocks of their rank, its *relays*,
// have the channels that are too many: they move nothing, and semaphores connect them to the block.
//
// A relay serves one block, so a channel from or to it carries edges between two blocks alone, as any other does, and
// its signals and waits are in one order. What is known of blocks stays true: an edge becomes a chain of edges.
#pragma once

#include "passes/schedule/node_symmetry.h"
#include "passes/schedule/nodes.h"
#include "passes/schedule/sync_plan.h"

#include "ir/program.h"

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace mscclc::passes::schedule {

/// An edge that is kept: a signal at the end of one group, a wait at the beginning of another, of a representative
/// agent.
struct Edge {
  std::uint32_t fromAgent, fromGroup, toAgent, toGroup;
  Carrier carrier;
  std::uint32_t statement;
  bool isEntry = fromGroup == 0; ///< it says that a launch has begun
  bool isOvertaken = false;      ///< another one says the same
};

/// Which channels of which blocks relays have.
class Relays {
public:
  /// Finds them for the edges of a plan. `mostPeers`: channels of a block; ir::none: any number, so there are none.
  /// What data needs of these stays in its block.
  Relays(const ir::Movement &movement, const Nodes &nodes, const RankDistances &distances, const NodeSymmetry &symmetry,
         std::span<const Edge> edges, std::uint32_t mostPeers);

  /// Relays of the rank that needs most.
  std::uint32_t most() const { return most_; }
  /// Leads the edges through them. `agents`: of SyncPlan, with groups for all edges; those of relays are added. Each
  /// rank has most() of them: see Nodes.
  void insert(std::vector<Edge> &edges, std::vector<SyncPlan::Agent> &agents) const;

private:
  class Inserter;

  /// The agent that has the channel of `own` to `other`, of another rank.
  std::uint32_t contactOf(std::uint32_t own, std::uint32_t other) const;

  const Nodes &nodes_;
  const NodeSymmetry &symmetry_;
  /// [block, the other one, as representatives see them]: the relay that has the channel, among those of its rank.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> relays_;
  std::uint32_t most_ = 0;
};

} // namespace mscclc::passes::schedule
