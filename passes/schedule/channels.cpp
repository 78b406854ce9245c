#include "passes/schedule/channels.h"

#include <algorithm>
#include <set>

namespace mscclc::passes::schedule {

Channels::Channels(ir::Program &program, const ir::Movement &movement, const SyncPlan &plan)
    : plan_(plan), distances_(movement, static_cast<std::uint32_t>(program.ranks.size())), ends_(program.ranks.size()) {
  firstAgent_.resize(program.ranks.size() + 1, 0);
  for (const SyncPlan::Agent &agent : plan.agents)
    ++firstAgent_[agent.rank + 1];
  for (std::size_t r = 1; r < firstAgent_.size(); ++r)
    firstAgent_[r] += firstAgent_[r - 1];

  for (std::uint32_t a = 0; a < plan.agents.size(); ++a)
    for (const Group &group : plan.agents[a].groups)
      for (const Sync &sync : group.waits)
        switch (sync.carrier) {
        case Carrier::Semaphore:
          semaphores_[{sync.agent, a}];
          break;
        case Carrier::MemorySignal:
        case Carrier::RelaxedSignal:
          want(Kind::Memory, sync.agent, a);
          break;
        case Carrier::PortSignal:
          want(Kind::Port, sync.agent, a);
          break;
        case Carrier::Put:
          want(Kind::Put, sync.agent, a);
          receivers_[sync.statement] = a;
          break;
        }
  wantPeers(movement);
  number(program);
  numberSemaphores(program);
  addSwitches(program, movement);
}

std::uint32_t Channels::agentOf(std::uint32_t rank, std::uint32_t block) const {
  return std::min(firstAgent_[rank] + block, firstAgent_[rank + 1] - 1);
}

/// Whether, of the two ends of a channel, the one with the smaller block number is the one from which it is farther to
/// the other.
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
  if (!ids_.try_emplace({kind, a, b}).second)
    return;
  ids_.try_emplace({kind, b, a});
  const SyncPlan::Agent &x = plan_.agents[a], &y = plan_.agents[b];
  const Name name{kind, std::min(x.block, y.block), std::max(x.block, y.block), isTurned(a, b)};
  ends_[x.rank].push_back({name, distances_.between(x.rank, y.rank), a, b});
  ends_[y.rank].push_back({name, distances_.between(y.rank, x.rank), b, a});
}

/// A block that only moves data to or from a rank needs a channel there as well.
void Channels::wantPeers(const ir::Movement &movement) {
  for (const auto &[ends, id] : ids_)
    if (const auto [kind, own, other] = ends; kind == Kind::Memory)
      toRank_.try_emplace({own, plan_.agents[other].rank}, other);
  for (const ir::Move &statement : movement.statements) {
    const std::uint32_t own = agentOf(*statement.by, *statement.block);
    if (statement.via == ir::Via::Port && !isPortPut(statement)) {
      const std::uint32_t other = agentOf(movement.dsts(statement).back().rank, *statement.block);
      want(Kind::Put, own, other);
      receivers_[static_cast<std::uint32_t>(&statement - movement.statements.data())] = other;
    }
    if (statement.via != ir::Via::Memory)
      continue;
    for (std::uint32_t i = 0; i < statement.numSrcs + statement.numDsts; ++i) {
      const std::uint32_t rank = movement.places[statement.firstPlace + i].rank;
      if (rank == *statement.by || toRank_.contains({own, rank}))
        continue;
      const std::uint32_t other = agentOf(rank, *statement.block);
      want(Kind::Memory, own, other);
      toRank_[{own, rank}] = other;
      toRank_.try_emplace({other, *statement.by}, own);
    }
  }
}

void Channels::number(ir::Program &program) {
  for (std::uint32_t r = 0; r < ends_.size(); ++r) {
    ir::Rank &rank = program.ranks[r];
    std::ranges::sort(ends_[r], {}, &End::key);
    for (const End &end : ends_[r]) {
      const Kind kind = std::get<0>(end.name);
      std::vector<std::uint32_t> &peers = kind == Kind::Memory ? rank.memoryPeers : rank.portPeers;
      ids_[{kind, end.own, end.other}] = static_cast<std::uint32_t>(peers.size());
      peers.push_back(plan_.agents[end.other].rank);
    }
  }
  for (auto &[ends, agent] : toRank_)
    agent = ids_.at({Kind::Memory, ends.first, agent});
}

void Channels::numberSemaphores(ir::Program &program) {
  for (auto &[ends, id] : semaphores_) { // sorted by the blocks that they are between
    std::vector<ir::Semaphore> &all = program.ranks[plan_.agents[ends.first].rank].semaphores;
    id = static_cast<std::uint32_t>(all.size());
    all.emplace_back();
  }
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
