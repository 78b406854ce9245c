#include "passes/schedule/channels.h"

#include "ir/containers.h"
#include "ir/internal_error.h"
#include "ir/program_index.h"
#include "passes/schedule/nodes.h"
#include "passes/schedule/statement_graph.h"

#include <algorithm>

namespace mscclc::passes::schedule {

Channels::Channels(ir::Program &program, const ir::Movement &movement, const SyncPlan &plan,
                   const RankDistances &distances)
    : plan_(plan), distances_(distances), links_(plan.agents.size()), towards_(plan.agents.size()) {
  firstAgent_.resize(program.ranks.size() + 1, 0);
  for (const SyncPlan::Agent &agent : plan.agents)
    ++firstAgent_[agent.rank + 1];
  for (std::size_t r = 1; r < firstAgent_.size(); ++r)
    firstAgent_[r] += firstAgent_[r - 1];
  receivers_.resize(movement.statements.size(), ir::none);
  findLinks(plan);
  sortLinks();
  findPeers();
  wantPeers(movement);
  sortLinks();
  number(program);
  addSwitches(program, movement);
}

void Channels::findLinks(const SyncPlan &plan) {
  std::vector<Group> room;
  for (std::uint32_t a = 0; a < plan.agents.size(); ++a)
    for (const Group &group : plan.groupsOf(a, room)) {
      for (const Sync &sync : group.waits)
        link(sync, sync.agent, a);
      if (plan.isOneRank) // agents of other ranks wait for these signals, but the plan lacks their groups
        for (const Sync &sync : group.signals)
          link(sync, a, sync.agent);
    }
}

/// Adds the channel or semaphore that an edge needs.
void Channels::link(const Sync &sync, std::uint32_t from, std::uint32_t to) {
  switch (sync.carrier) {
  case Carrier::Semaphore:
    add(links_[from], Kind::Semaphore, to);
    break;
  case Carrier::MemorySignal:
  case Carrier::RelaxedSignal:
    want(Kind::Memory, from, to);
    break;
  case Carrier::PortSignal:
    want(Kind::Port, from, to);
    break;
  case Carrier::Put:
    want(Kind::Put, from, to);
    break;
  }
}

std::uint32_t Channels::agentOf(std::uint32_t rank, std::uint32_t block) const {
  return std::min(firstAgent_[rank] + block, firstAgent_[rank + 1] - 1);
}

/// True if the distance from the end with the smaller block number to the other end of a channel is longer than the
/// distance back. If both distances are equal, the rank numbers decide.
bool Channels::isTurned(std::uint32_t a, std::uint32_t b) const {
  const SyncPlan::Agent &x = plan_.agents[a], &y = plan_.agents[b];
  if (x.block == y.block)
    return false;
  const auto &[small, large] = x.block < y.block ? std::tie(x, y) : std::tie(y, x);
  const std::uint32_t there = distances_.between(small.rank, large.rank),
                      back = distances_.between(large.rank, small.rank);
  return there != back ? there > back : small.rank > large.rank;
}

void Channels::want(Kind kind, std::uint32_t a, std::uint32_t b) {
  add(links_[a], kind, b);
  add(links_[b], kind, a);
}

void Channels::sortLinks() {
  for (std::vector<Link> &links : links_)
    if (!std::ranges::is_sorted(links, std::ranges::less_equal{})) // is_sorted is also false if there are duplicates
      ir::sortUnique(links);
}

std::uint32_t Channels::at(Kind kind, std::uint32_t own, std::uint32_t other) const {
  const auto found = std::ranges::lower_bound(links_[own], Link{kind, other, 0});
  if (found == links_[own].end() || found->kind != kind || found->other != other)
    throw ir::InternalError("two blocks tell each other something without a channel");
  return found->id;
}

std::uint32_t Channels::memoryTo(std::uint32_t own, std::uint32_t rank) const {
  if (const std::uint32_t *other = agentTowards(own, rank))
    return memory(own, *other);
  throw ir::InternalError("a block reaches a rank without a channel");
}

const std::uint32_t *Channels::agentTowards(std::uint32_t own, std::uint32_t rank) const {
  const auto found = std::ranges::lower_bound(towards_[own], std::pair(rank, 0u));
  return found != towards_[own].end() && found->first == rank ? &found->second : nullptr;
}

void Channels::findPeers() {
  for (std::uint32_t a = 0; a < links_.size(); ++a)
    for (const Link &link : links_[a])
      if (const std::uint32_t rank = plan_.agents[link.other].rank;
          link.kind == Kind::Memory && (towards_[a].empty() || towards_[a].back().first != rank))
        towards_[a].emplace_back(rank, link.other);
}

/// Returns the agent to which `own` corresponds if rank 0 represents the rank of `other`.
std::uint32_t Channels::otherOnFirst(std::uint32_t own, std::uint32_t other) const {
  const std::uint32_t rank = distances_.between(plan_.agents[other].rank, plan_.agents[own].rank);
  return firstAgent_[rank] + plan_.agents[own].block;
}

/// Adds channels for blocks that move data to or from a rank without sync, because access to that rank needs a channel,
/// too. Also finds the receivers of puts.
void Channels::wantPeers(const ir::Movement &movement) {
  const auto lead = [&](std::uint32_t own, std::uint32_t other) {
    if (const std::uint32_t rank = plan_.agents[other].rank; !agentTowards(own, rank)) {
      const std::pair to(rank, other);
      towards_[own].insert(std::ranges::lower_bound(towards_[own], to), to);
    }
  };
  const auto wantBoth = [&](Kind kind, std::uint32_t own, std::uint32_t other) {
    want(kind, own, other);
    if (plan_.isOneRank)
      want(kind, ownOnFirst(other), otherOnFirst(own, other));
  };
  for (const ir::Move &statement : movement.statements) {
    if (plan_.isOneRank && *statement.by != 0)
      continue;
    const std::uint32_t own = agentOf(*statement.by, *statement.block);
    if (statement.via == ir::Via::Port) {
      const auto number = static_cast<std::uint32_t>(&statement - movement.statements.data());
      receivers_[number] = isPortPut(statement) ? plan_.nodes->receiverOf(number)
                                                : agentOf(movement.dsts(statement).back().rank, *statement.block);
      if (!isPortPut(statement))
        wantBoth(Kind::Put, own, receivers_[number]);
    }
    if (statement.via != ir::Via::Memory)
      continue;
    for (const ir::RankChunk &place : movement.placesOf(statement)) {
      const std::uint32_t rank = place.rank;
      if (rank == *statement.by || agentTowards(own, rank))
        continue;
      const std::uint32_t other = agentOf(rank, *statement.block);
      wantBoth(Kind::Memory, own, other);
      lead(own, other);
      lead(other, own);
      if (plan_.isOneRank)
        lead(ownOnFirst(other), otherOnFirst(own, other));
    }
  }
}

void Channels::number(ir::Program &program) {
  std::vector<End> ends; // channel ends of one rank
  for (std::uint32_t r = 0; r < (plan_.isOneRank ? 1 : program.ranks.size()); ++r) {
    ends.clear();
    for (std::uint32_t own = firstAgent_[r]; own < firstAgent_[r + 1]; ++own)
      for (Link &link : links_[own]) {
        if (link.kind == Kind::Semaphore) { // semaphores are numbered in the order of the blocks that they connect
          link.id = static_cast<std::uint32_t>(program.ranks[r].semaphores.size());
          program.ranks[r].semaphores.emplace_back();
          continue;
        }
        const auto [small, large] = std::minmax(plan_.agents[own].block, plan_.agents[link.other].block);
        ends.push_back(
            {link.kind, distance(own, link.other), small, large, isTurned(own, link.other), own, link.other});
      }
    std::ranges::sort(ends);
    for (const End &end : ends) {
      const bool memory = end.kind == Kind::Memory;
      std::vector<std::uint32_t> &peers = memory ? program.ranks[r].memoryPeers : program.ranks[r].portPeers;
      std::ranges::lower_bound(links_[end.own], Link{end.kind, end.other, 0})->id =
          static_cast<std::uint32_t>(peers.size());
      peers.push_back(plan_.agents[end.other].rank);
    }
  }
}

OtherEnds Channels::otherEnds(const ir::Rank &first) const {
  OtherEnds ends{std::vector(first.memoryPeers.size(), ir::none), std::vector(first.portPeers.size(), ir::none)};
  for (std::uint32_t own = firstAgent_[0]; own < firstAgent_[1]; ++own)
    for (const Link &link : links_[own])
      if (link.kind != Kind::Semaphore)
        ends[link.kind != Kind::Memory][link.id] = at(link.kind, ownOnFirst(link.other), otherOnFirst(own, link.other));
  return ends;
}

Channels::SwitchGroup Channels::groupOf(const ir::Movement &movement, const ir::Move &statement) {
  const auto places = statement.kind == ir::MoveKind::Reduce ? movement.srcs(statement) : movement.dsts(statement);
  std::vector<std::uint32_t> ranks;
  for (const ir::RankChunk &place : places)
    ranks.push_back(place.rank);
  std::ranges::sort(ranks);
  return {*statement.block, places[0].buffer, std::move(ranks), *statement.by};
}

void Channels::addSwitches(ir::Program &program, const ir::Movement &movement) {
  for (const ir::Move &statement : movement.statements) {
    if (statement.via != ir::Via::Switch)
      continue;
    SwitchGroup group = groupOf(movement, statement);
    for (const std::uint32_t rank : std::get<2>(group)) {
      std::get<3>(group) = rank;
      switches_.try_emplace(group);
    }
  }
  for (auto &[group, id] : switches_) {
    const auto &[block, buffer, ranks, rank] = group;
    std::vector<ir::SwitchChannel> &all = program.ranks[rank].switchChannels;
    id = static_cast<std::uint32_t>(all.size());
    all.push_back({buffer, ranks});
  }
}

} // namespace mscclc::passes::schedule
