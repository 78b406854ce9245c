#include "passes/schedule/sync_plan.h"

#include "ir/containers.h"
#include "ir/program_index.h"
#include "passes/schedule/agent_clocks.h"
#include "passes/schedule/launches.h"
#include "passes/schedule/node_symmetry.h"
#include "passes/schedule/relays.h"

#include <algorithm>
#include <tuple>
#include <unordered_set>

namespace mscclc::passes::schedule {
namespace {

class Planner {
public:
  Planner(const ir::Program &program, const StatementGraph &graph, const RankDistances &distances, const Nodes &nodes,
          const NodeSymmetry &symmetry, const Entries &forced, std::vector<bool> &flushed)
      : movement_(program.movement), graph_(graph), distances_(distances), nodes_(nodes), symmetry_(symmetry),
        forced_(forced), flushed_(flushed), clocks_(nodes.numAgents()), known_(symmetry.numRepresentativeAgents()),
        groupOf_(symmetry.representatives().size()), sources_(symmetry.numRepresentativeAgents()) {
    plan_.agents.resize(nodes.numAgents());
    for (std::uint32_t a = 0; a < nodes.numAgents(); ++a) {
      plan_.agents[a].rank = nodes.rankOf(a);
      plan_.agents[a].block = nodes.blockOf(a);
    }
    intoLast_.resize(known_.size());
    after_.resize(known_.size());
    for (std::uint32_t a = 0; a < known_.size(); ++a) {
      if (nodes.blockOf(a) == 0)
        hear(known_[a], nodes.rankOf(a));
      else
        known_[a] = known_[a - 1];
      addGroup(a, 0); // the beginning of the rank's launch
      after_[a][0].known = known_[a];
    }
  }

  void run() {
    for (const std::uint32_t n : symmetry_.representatives())
      add(n);
    for (std::uint32_t r = 0; r < symmetry_.numRepresentatives(); ++r)
      finish(r);
  }

  /// True if the plan is wrong because some puts have to be flushed at once. These puts are marked for the next plan.
  bool lacksFlush() const { return lacksFlush_; }

  Relays findRelays(std::uint32_t mostPeers) const {
    return {movement_, nodes_, distances_, symmetry_, edges_, mostPeers};
  }

  SyncPlan takePlan(const Relays &relays) {
    relays.insert(edges_, plan_.agents);
    for (const Edge &edge : edges_) {
      if (edge.isOvertaken)
        continue;
      const bool entry = edge.isEntry;
      plan_.agents[edge.toAgent].planned[edge.toGroup].waits.push_back(
          {edge.fromAgent, edge.carrier, entry, edge.statement});
      // The signal is planned for the representative of the signalling agent, to the image of the waiting agent.
      const std::uint32_t image = symmetry_.inverseOf(nodes_.rankOf(edge.fromAgent));
      plan_.agents[symmetry_.imageOfAgent(edge.fromAgent, image)].planned[edge.fromGroup].signals.push_back(
          {symmetry_.imageOfAgent(edge.toAgent, image), edge.carrier, entry,
           symmetry_.imageOfStatement(edge.statement, image)});
    }
    for (std::uint32_t a = 0; a < known_.size(); ++a)
      for (Group &group : plan_.agents[a].planned) {
        sortSyncs(a, group.waits);
        sortSyncs(a, group.signals);
      }
    return std::move(plan_);
  }
  /// Returns the sources of each node, for the simulation of several launches.
  const Sources &sources() const { return sources_; }

private:
  /// The thing that a node waits for: another node, or the beginning of a rank's launch.
  struct Need {
    std::uint32_t node = 0;
    bool byPackets = false;
  };

  struct AfterGroup {
    Clock known;              ///< clock after the last node of the group
    std::uint32_t number = 0; ///< number of the group, among all groups
  };

  // The clock of an agent has an entry for each other agent: 1 if the launch of its rank is known to have begun, and
  // one more for each of its nodes that is known to be over. The beginning of a launch is stored only for the first
  // agent of its rank. The agent's own progress is not in its clock.
  bool hasHeardOf(const Clock &clock, std::uint32_t rank) const {
    return clocks_.at(clock, nodes_.inClocks(nodes_.agentsOf(rank).first)) != 0;
  }
  void hear(Clock &clock, std::uint32_t rank) { clocks_.raise(clock, nodes_.inClocks(nodes_.agentsOf(rank).first), 1); }
  bool knows(const Clock &known, std::uint32_t other, std::uint32_t count) const {
    return clocks_.at(known, nodes_.inClocks(other)) > count;
  }
  /// Adds to `known` what agent `other` knows after its group `group`, and that `count` nodes of `other` are over.
  void learn(Clock &known, std::uint32_t other, std::uint32_t group, std::uint32_t count) {
    symmetry_.join(clocks_, known, after_[symmetry_.representativeAgent(other)][group].known, nodes_.rankOf(other));
    hear(known, nodes_.rankOf(other));
    clocks_.raise(known, nodes_.inClocks(other), count + 1);
  }

  void addGroup(std::uint32_t agent, std::uint32_t depth) {
    plan_.agents[agent].planned.push_back({depth, {}, {}, {}});
    after_[agent].push_back({.known = {}, .number = numGroups_++});
    intoLast_[agent].clear();
  }
  const Group &groupOf(std::uint32_t agent, std::uint32_t group) const {
    return plan_.agents[symmetry_.representativeAgent(agent)].planned[group];
  }
  /// True if the group has not yet signalled agent `to`. The call marks `to` as signalled.
  bool isNews(std::uint32_t from, std::uint32_t group, std::uint32_t to) {
    const std::uint32_t number = after_[symmetry_.representativeAgent(from)][group].number;
    return signalled_.insert(std::uint64_t{number} << 32 | symmetry_.agentSeenFrom(nodes_.rankOf(from), to)).second;
  }
  void sortSyncs(std::uint32_t agent, std::vector<Sync> &syncs) const {
    if (syncs.size() > 1)
      std::ranges::stable_sort(syncs, {}, [&](const Sync &sync) {
        return std::tuple(!sync.entry, sync.carrier,
                          distances_.between(nodes_.rankOf(agent), nodes_.rankOf(sync.agent)),
                          nodes_.blockOf(sync.agent));
      });
  }

  void add(std::uint32_t n) {
    const Nodes::Node place = nodes_.at(n);
    collect(n);
    sources_.beginNode();
    std::uint32_t depth = plan_.agents[place.agent].planned.back().depth;
    const std::size_t firstEdge = edges_.size();
    for (const Need &need : needs_)
      depth = std::max(depth, satisfy(n, need));
    for (const std::uint32_t rank : entries_)
      depth = std::max(depth, hear(n, rank));
    for (const std::uint32_t put : overwritten_)
      if (!knowsArrival(place.agent, put))
        flush(put);
    std::vector<Group> &groups = plan_.agents[place.agent].planned;
    const bool fresh = groups.size() == 1 || depth > groups.back().depth || movement_.eager;
    if (fresh)
      addGroup(place.agent, std::max(depth, 1u));
    const auto group = static_cast<std::uint32_t>(groups.size() - 1);
    groupOf_[symmetry_.positionOf(n)] = group;
    for (std::size_t e = firstEdge; e < edges_.size(); ++e)
      edges_[e].toGroup = group;
    dropOvertaken(place.agent, firstEdge);
    groups.back().nodes.push_back({place.statement, place.arrives});
    after_[place.agent][group].known = known_[place.agent];
  }

  /// Finds what node `n` needs. Sets needs_ (the latest first), entries_ (sorted) and overwritten_.
  void collect(std::uint32_t n) {
    const Nodes::Node place = nodes_.at(n);
    needs_.clear();
    entries_.clear();
    overwritten_.clear();
    if (place.arrives) {
      needs_.push_back({nodes_.ofStatement(place.statement), false});
      return;
    }
    for (Dependence d : graph_.dependences(place.statement)) {
      if (d.ofRead && isPortPut(movement_.statements[d.on]) && !flushed_[d.on]) {
        overwritten_.push_back(d.on);
        d.ofRead = false;
      }
      nodes_.eachCompleting(d, [&](std::uint32_t node) { needs_.push_back({node, d.hazard == Hazard::Packets}); });
    }
    std::ranges::sort(needs_, [](const Need &a, const Need &b) { return a.node > b.node; });
    const std::uint32_t rank = nodes_.rankOf(place.agent);
    for (const Touch &touch : graph_.touches(place.statement))
      if (touch.rank != rank && !touch.inScratch())
        entries_.push_back(touch.rank);
    if (const auto forced = forced_.find(place.statement); forced != forced_.end())
      entries_.insert(entries_.end(), forced->second.begin(), forced->second.end());
    ir::sortUnique(entries_);
  }

  bool knowsArrival(std::uint32_t agent, std::uint32_t put) const {
    const Nodes::Node &arrival = nodes_.at(nodes_.arrivalOf(put));
    return arrival.agent == agent || knows(known_[agent], arrival.agent, arrival.index + 1);
  }
  /// Marks a put, and the equivalent puts of other ranks, to be flushed at once.
  void flush(std::uint32_t put) {
    lacksFlush_ = true;
    flushed_[put] = true;
    for (std::uint32_t rank = 0; symmetry_.holds() && rank < distances_.size(); ++rank)
      flushed_[symmetry_.imageOfStatement(put, rank)] = true;
  }

  /// Makes node `n` come after `need`. Returns the least depth that the group of `n` must have for that.
  std::uint32_t satisfy(std::uint32_t n, const Need &need) {
    const Nodes::Node from = nodes_.at(need.node), to = nodes_.at(n);
    if (from.agent == to.agent)
      return 0;
    const std::uint32_t fromGroup = groupOf_[symmetry_.positionOf(need.node)];
    const std::uint32_t depth = groupOf(from.agent, fromGroup).depth + 1;
    if (need.byPackets) {
      // Packets only show that the launch of their writer has begun. They show nothing else about the writer.
      sources_.add({from.agent, true, true});
      return depth;
    }
    if (knows(known_[to.agent], from.agent, from.index + 1))
      return 0;
    const Carrier carrier = to.arrives ? Carrier::Put : carrierBetween(from.agent, to.agent);
    sources_.add({need.node, false});
    learn(known_[to.agent], from.agent, fromGroup, to.arrives ? nodes_.countAtArrival(need.node) : from.index + 1);
    // The group of `need.node` may already signal this block. That signal comes after all nodes of the group.
    if (carrier == Carrier::Put || isNews(from.agent, fromGroup, to.agent))
      edges_.push_back({from.agent, fromGroup, to.agent, 0, carrier, nodes_.at(n).statement});
    return depth;
  }

  /// Makes node `n` come after the beginning of the launch of `rank`. Returns the least depth that the group of `n`
  /// must have for that.
  std::uint32_t hear(std::uint32_t n, std::uint32_t rank) {
    const Nodes::Node to = nodes_.at(n);
    if (hasHeardOf(known_[to.agent], rank))
      return 0;
    const std::uint32_t from = nodes_.partnerOf(to.agent, rank);
    sources_.add({from, true});
    hear(known_[to.agent], rank);
    const Carrier carrier =
        movement_.sameNode(rank, nodes_.rankOf(to.agent)) ? Carrier::RelaxedSignal : Carrier::PortSignal;
    if (isNews(from, 0, to.agent))
      edges_.push_back({from, 0, to.agent, 0, carrier, to.statement});
    return 1;
  }

  /// Drops superfluous edges. If several edges lead from one block into one group, the edge from the latest group is
  /// sufficient. A put's edge is superfluous if a later put of the same run arrives in the same group, as both are on
  /// one channel. The edges from `firstEdge` on are new, and lead into the last group of `agent`.
  void dropOvertaken(std::uint32_t agent, std::size_t firstEdge) {
    std::vector<std::size_t> &present = intoLast_[agent];
    for (std::size_t e = firstEdge; e < edges_.size(); ++e) {
      std::erase_if(present, [&](std::size_t o) { return edges_[o].isOvertaken = isOvertaken(edges_[o], edges_[e]); });
      present.push_back(e);
    }
  }

  /// True if `later` makes `edge`, which leads into the same group, superfluous.
  bool isOvertaken(const Edge &edge, const Edge &later) const {
    if (edge.fromAgent != later.fromAgent)
      return false;
    switch (later.carrier) {
    case Carrier::RelaxedSignal:
      return false;
    case Carrier::Put:
      return edge.carrier == Carrier::Put && edge.fromGroup == later.fromGroup && runOf(edge) == runOf(later);
    case Carrier::Semaphore:
    case Carrier::MemorySignal:
    case Carrier::PortSignal:
      return edge.fromGroup < later.fromGroup &&
             (edge.carrier == later.carrier || edge.carrier == Carrier::RelaxedSignal);
    }
    return false;
  }
  /// Returns the beginning of the run of puts that contains the put of this edge.
  std::uint32_t runOf(const Edge &edge) const { return nodes_.countAtArrival(nodes_.ofStatement(edge.statement)); }

  Carrier carrierBetween(std::uint32_t from, std::uint32_t to) const {
    if (nodes_.rankOf(from) == nodes_.rankOf(to))
      return Carrier::Semaphore;
    return movement_.sameNode(nodes_.rankOf(from), nodes_.rankOf(to)) ? Carrier::MemorySignal : Carrier::PortSignal;
  }

  /// Makes the launch of `rank` end after all nodes that touch its buffers.
  void finish(std::uint32_t rank) {
    const std::vector<std::uint32_t> &touching = nodes_.touchingBuffersOf(rank);
    if (touching.empty())
      return;
    Clock known; // everything that happens before the end of any agent of the rank
    for (auto [agent, last] = nodes_.agentsOf(rank); agent < last; ++agent)
      clocks_.join(known, known_[agent]);
    // The latest nodes come first, because their signals mostly cover earlier nodes, too.
    for (auto n = touching.rbegin(); n != touching.rend(); ++n) {
      const Nodes::Node from = nodes_.at(*n);
      if (knows(known, from.agent, from.index + 1))
        continue;
      const std::uint32_t to = nodes_.partnerOf(from.agent, rank);
      const std::uint32_t fromGroup = groupOf_[symmetry_.positionOf(*n)];
      std::vector<Group> &groups = plan_.agents[to].planned;
      if (groups.size() == 1 || !groups.back().nodes.empty())
        addGroup(to, groups.back().depth + 1);
      groups.back().depth = std::max(groups.back().depth, groupOf(from.agent, fromGroup).depth + 1);
      learn(known, from.agent, fromGroup, from.index + 1);
      sources_.ofEnd[to].push_back({*n, false});
      if (isNews(from.agent, fromGroup, to))
        edges_.push_back({from.agent, fromGroup, to, static_cast<std::uint32_t>(groups.size() - 1),
                          carrierBetween(from.agent, to), from.statement});
    }
  }

  const ir::Movement &movement_;
  const StatementGraph &graph_;
  const RankDistances &distances_;
  const Nodes &nodes_;
  const NodeSymmetry &symmetry_;
  const Entries &forced_;
  std::vector<bool> &flushed_; ///< see SyncPlan
  bool lacksFlush_ = false;
  AgentClocks clocks_;
  // The following members are for planned ranks; see NodeSymmetry.
  std::vector<Clock> known_; ///< [agent]
  SyncPlan plan_;
  std::vector<std::uint32_t> groupOf_;         ///< [node]
  std::vector<std::vector<AfterGroup>> after_; ///< [agent][group]
  std::vector<Edge> edges_;
  std::vector<std::vector<std::size_t>> intoLast_; ///< [agent]: edges into its last group
  std::uint32_t numGroups_ = 0;
  std::unordered_set<std::uint64_t> signalled_; ///< [number of the group << 32 | agent]
  Sources sources_;
  std::vector<Need> needs_;
  std::vector<std::uint32_t> entries_;
  std::vector<std::uint32_t> overwritten_; ///< puts that are not flushed at once, but whose source the node overwrites
};

/// Returns, for each statement, true if it is a put that every plan flushes at once.
std::vector<bool> putsToFlush(const ir::Movement &movement) {
  std::vector<bool> flushed(movement.statements.size(), false);
  for (std::size_t s = 0; movement.step == 0 && s < flushed.size(); ++s)
    flushed[s] = isPortPut(movement.statements[s]);
  return flushed;
}

} // namespace

/// `isOneRank`: plans only rank 0. Then returns nothing if not all ranks are equivalent.
static std::optional<SyncPlan> plan(const ir::Program &program, Analyses &analyses, std::uint32_t mostPeers,
                                    bool isOneRank) {
  const auto &graph = analyses.of<StatementGraph>(program);
  const auto &distances = analyses.of<StatementDistances>(program);
  std::shared_ptr<const Nodes> nodes;
  std::shared_ptr<const NodeSymmetry> symmetry;
  const auto giveRelays = [&](std::uint32_t relays) {
    nodes = std::make_shared<const Nodes>(program, graph, distances, mostPeers, relays);
    symmetry = std::make_shared<const NodeSymmetry>(program, graph, *nodes, distances.ranks(),
                                                    analyses.of<StatementSymmetry>(program));
  };
  giveRelays(0);
  if (isOneRank && !symmetry->holds())
    return std::nullopt;
  const std::uint32_t mostOfBlock = program.movement.relayBlocks ? mostPeers : ir::none;
  // Conflicts between launches in scratch may require more edges. Each edge that is added may make others superfluous.
  Entries forced;
  std::vector<bool> flushed = putsToFlush(program.movement);
  while (true) {
    Planner planner(program, graph, distances.ranks(), *nodes, *symmetry, forced, flushed);
    planner.run();
    if (planner.lacksFlush() ||
        addMissingEntries(program, graph, *nodes, *symmetry, planner.sources(), flushed, forced))
      continue;
    const Relays relays = planner.findRelays(mostOfBlock);
    if (relays.most() > nodes->numRelays()) {
      giveRelays(relays.most());
      continue;
    }
    SyncPlan plan = planner.takePlan(relays);
    plan.isOneRank = isOneRank;
    plan.nodes = nodes;
    plan.symmetry = symmetry;
    plan.flushed = std::move(flushed);
    return plan;
  }
}

SyncPlan planSync(const ir::Program &program, Analyses &analyses, std::uint32_t mostPeers) {
  return *plan(program, analyses, mostPeers, false);
}

std::optional<SyncPlan> planOneRank(const ir::Program &program, Analyses &analyses, std::uint32_t mostPeers) {
  return plan(program, analyses, mostPeers, true);
}

const std::vector<Group> &SyncPlan::groupsOf(std::uint32_t agent, std::vector<Group> &room) const {
  const std::uint32_t rank = agents[agent].rank;
  if (isOneRank || symmetry->isRepresentative(rank))
    return agents[agent].planned;
  const std::vector<Group> &planned = agents[symmetry->representativeAgent(agent)].planned;
  const auto moveSyncs = [&](const std::vector<Sync> &syncs, std::vector<Sync> &moved) {
    moved.clear();
    for (Sync sync : syncs) {
      sync.agent = symmetry->imageOfAgent(sync.agent, rank);
      sync.statement = symmetry->imageOfStatement(sync.statement, rank);
      moved.push_back(sync);
    }
  };
  room.resize(planned.size());
  for (std::size_t g = 0; g < planned.size(); ++g) {
    room[g].depth = planned[g].depth;
    moveSyncs(planned[g].waits, room[g].waits);
    moveSyncs(planned[g].signals, room[g].signals);
    room[g].nodes.clear();
    for (Node node : planned[g].nodes) {
      node.statement = symmetry->imageOfStatement(node.statement, rank);
      room[g].nodes.push_back(node);
    }
  }
  return room;
}

} // namespace mscclc::passes::schedule
