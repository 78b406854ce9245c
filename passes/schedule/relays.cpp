#include "passes/schedule/relays.h"

#include "ir/program_index.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace mscclc::passes::schedule {

static bool isOfMemory(const Edge &edge) {
  return !edge.isOvertaken && (edge.carrier == Carrier::MemorySignal || edge.carrier == Carrier::RelaxedSignal);
}

Relays::Relays(const ir::Movement &movement, const Nodes &nodes, const RankDistances &distances,
               const NodeSymmetry &symmetry, std::span<const Edge> edges, std::uint32_t mostPeers)
    : nodes_(nodes), symmetry_(symmetry) {
  if (mostPeers == ir::none)
    return;
  // [planned agent]: blocks with which it exchanges signals, and ranks with which it exchanges data, as the agent's
  // rank sees them.
  std::map<std::uint32_t, std::set<std::uint32_t>> peers, dataRanks;
  for (const Edge &edge : edges)
    if (isOfMemory(edge))
      for (const auto &[own, other] : {std::pair(edge.fromAgent, edge.toAgent), {edge.toAgent, edge.fromAgent}})
        peers[symmetry.representativeAgent(own)].insert(symmetry.agentSeenFrom(nodes.rankOf(own), other));
  for (const std::uint32_t n : symmetry.representatives()) {
    const ir::Move &move = movement.statements[nodes.at(n).statement];
    for (const ir::RankChunk &place : movement.placesOf(move))
      if (move.via == ir::Via::Memory && place.rank != *move.by)
        dataRanks[nodes.at(n).agent].insert(symmetry.seenFrom(*move.by, place.rank));
  }
  std::vector<std::uint32_t> used(symmetry.numRepresentatives(), 0);
  for (const auto &[own, others] : peers) {
    std::set<std::uint32_t> &ranks = dataRanks[own];
    if (ranks.size() > mostPeers)
      continue; // data alone needs too many channels
    // Channels to the nearest blocks stay, so that ranks of a symmetric program do the same.
    std::vector<std::uint32_t> sorted(others.begin(), others.end());
    std::ranges::stable_sort(sorted, {}, [&](std::uint32_t other) {
      return std::pair(distances.between(nodes.rankOf(own), nodes.rankOf(other)), nodes.blockOf(other));
    });
    const std::size_t room = mostPeers - ranks.size();
    std::erase_if(sorted, [&](std::uint32_t other) { return ranks.erase(nodes.rankOf(other)) != 0; });
    std::uint32_t &first = used[nodes.rankOf(own)];
    for (std::size_t i = room; i < sorted.size(); ++i)
      relays_.emplace(std::pair(own, sorted[i]), first + static_cast<std::uint32_t>((i - room) / mostPeers));
    if (sorted.size() > room)
      first += static_cast<std::uint32_t>((sorted.size() - room - 1) / mostPeers) + 1;
  }
  most_ = std::ranges::max(used);
}

std::uint32_t Relays::contactOf(std::uint32_t own, std::uint32_t other) const {
  const std::uint32_t rank = nodes_.rankOf(own);
  const auto found = relays_.find({symmetry_.representativeAgent(own), symmetry_.agentSeenFrom(rank, other)});
  return found == relays_.end() ? own : nodes_.firstRelayOf(rank) + found->second;
}

/// Inserts relays. An edge from a group of depth d to one of depth e > d becomes three edges: a semaphore to a group of
/// a relay, of depth 3d + 1; a signal to a group of a relay of the other rank, of depth 3e - 1; and a semaphore to the
/// block that waits. All other depths d become 3d. So the three edges still lead to ever deeper groups: 3d < 3d + 1 <
/// 3e - 1 < 3e.
class Relays::Inserter {
public:
  Inserter(const Relays &relays, std::vector<Edge> &edges, std::vector<SyncPlan::Agent> &agents)
      : relays_(relays), edges_(edges), agents_(agents) {}

  void run() {
    for (std::uint32_t a = 0; a < relays_.symmetry_.numRepresentativeAgents(); ++a)
      for (Group &group : agents_[a].planned)
        group.depth *= 3;
    for (const Edge &edge : std::exchange(edges_, {}))
      if (isOfMemory(edge))
        lead(edge);
      else
        edges_.push_back(edge);
  }

private:
  std::uint32_t depthOf(std::uint32_t agent, std::uint32_t group) const {
    return agents_[relays_.symmetry_.representativeAgent(agent)].planned[group].depth;
  }
  /// Returns the group of `relay` at `depth`. A relay has one group for each depth, up to the greatest depth that it
  /// needs.
  std::uint32_t groupAt(std::uint32_t relay, std::uint32_t depth) {
    std::vector<Group> &groups = agents_[relays_.symmetry_.representativeAgent(relay)].planned;
    while (groups.size() <= depth)
      groups.push_back({static_cast<std::uint32_t>(groups.size()), {}, {}, {}});
    return depth;
  }
  /// Adds an edge. If several edges connect the same groups, the relay signals only once.
  void add(const Edge &edge) {
    if (added_.emplace(edge.fromAgent, edge.fromGroup, edge.toAgent, edge.toGroup, edge.isEntry).second)
      edges_.push_back(edge);
  }
  void lead(Edge edge) {
    const NodeSymmetry &symmetry = relays_.symmetry_;
    const std::uint32_t from = relays_.contactOf(edge.fromAgent, edge.toAgent),
                        to = relays_.contactOf(edge.toAgent, edge.fromAgent);
    // A relay can announce the beginning of a launch itself, so this needs no semaphore.
    if (from != edge.fromAgent && !edge.isEntry) {
      Edge first = edge;
      edge.fromGroup = groupAt(from, depthOf(edge.fromAgent, edge.fromGroup) + 1);
      // An edge has to lead to a representative. So the edge to the relay is replaced by the image that leads to a
      // representative.
      const std::uint32_t image = symmetry.inverseOf(relays_.nodes_.rankOf(from));
      first.fromAgent = symmetry.imageOfAgent(first.fromAgent, image);
      first.toAgent = symmetry.imageOfAgent(from, image);
      first.toGroup = edge.fromGroup;
      first.carrier = Carrier::Semaphore;
      first.statement = symmetry.imageOfStatement(edge.statement, image);
      add(first);
    }
    edge.fromAgent = from;
    if (to != edge.toAgent) {
      Edge last = edge;
      edge.toGroup = groupAt(to, depthOf(edge.toAgent, edge.toGroup) - 1);
      edge.toAgent = last.fromAgent = to;
      last.fromGroup = edge.toGroup;
      last.carrier = Carrier::Semaphore;
      add(last);
    }
    add(edge);
  }

  const Relays &relays_;
  std::vector<Edge> &edges_;
  std::vector<SyncPlan::Agent> &agents_;
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, bool>> added_;
};

void Relays::insert(std::vector<Edge> &edges, std::vector<SyncPlan::Agent> &agents) const {
  if (most_ != 0)
    Inserter(*this, edges, agents).run();
}

} // namespace mscclc::passes::schedule
