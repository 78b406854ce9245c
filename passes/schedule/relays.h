// Relays for blocks whose sync needs more channels than an executor's block may have. The excess channels belong to
// other blocks of the same rank, the *relays*. A relay moves no data. Semaphores connect it to the block.
//
// Example: a block signals 20 blocks of other ranks, and an executor's block may have 16 channels. A relay gets 4 of
// the 20 channels. The block releases a semaphore, and the relay acquires it and signals for the block.
//
// A relay serves one block. So a channel from or to it carries edges between only two blocks, like any other channel,
// and its signals and waits are in one order. The knowledge of blocks about each other stays true, because an edge
// becomes a chain of edges.
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

/// An edge that is kept: a signal at the end of one group, and a wait at the beginning of another group. The waiting
/// group belongs to a representative agent.
struct Edge {
  std::uint32_t fromAgent, fromGroup, toAgent, toGroup;
  Carrier carrier;
  std::uint32_t statement;
  bool isEntry = fromGroup == 0; ///< the edge announces that a launch has begun
  bool isOvertaken = false;      ///< another edge makes this edge superfluous
};

/// The channels that relays take from other blocks.
class Relays {
public:
  /// Finds the relays for the edges of a plan. `mostPeers`: the most channels of a block; ir::none: any number, so
  /// there are no relays. Channels that data needs stay in the block.
  Relays(const ir::Movement &movement, const Nodes &nodes, const RankDistances &distances, const NodeSymmetry &symmetry,
         std::span<const Edge> edges, std::uint32_t mostPeers);

  /// Returns the number of relays of the rank that needs most relays.
  std::uint32_t most() const { return most_; }
  /// Replaces edges by chains of edges through relays. `agents`: the agents of SyncPlan, with groups for all edges.
  /// Adds groups of relays to them. Each rank has most() relays (see Nodes).
  void insert(std::vector<Edge> &edges, std::vector<SyncPlan::Agent> &agents) const;

private:
  class Inserter;

  /// Returns the agent that has the channel from `own` to `other`: `own` or its relay. `other` is on another rank.
  std::uint32_t contactOf(std::uint32_t own, std::uint32_t other) const;

  const Nodes &nodes_;
  const NodeSymmetry &symmetry_;
  /// Key: a block and its peer block, as representatives see them. Value: the relay that has the channel, as its number
  /// among the relays of its rank.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> relays_;
  std::uint32_t most_ = 0;
};

} // namespace mscclc::passes::schedule
