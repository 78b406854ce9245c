// What each thread block knows of the others: vector clocks, shared until they change.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace mscclc::passes::schedule {

/// Clocks of agents (thread blocks of all ranks). A count says how many of an agent's nodes are known to be done.
class AgentClocks {
  struct State {
    std::vector<std::uint32_t> done; ///< [agent]
    std::vector<bool> begun;         ///< [rank]: its launch has begun
  };

public:
  /// What an agent knew at some time. Cheap to keep.
  using Snapshot = std::shared_ptr<const State>;

  AgentClocks(std::uint32_t agents, std::uint32_t ranks) : rankOf_(agents, 0), states_(agents) {
    const auto nothing = std::make_shared<State>();
    nothing->done.resize(agents, 0);
    nothing->begun.resize(ranks, false);
    std::ranges::fill(states_, nothing);
  }

  /// Agent `agent` is of rank `rank`, whose launch it knows to have begun.
  void start(std::uint32_t agent, std::uint32_t rank) {
    rankOf_[agent] = rank;
    hear(agent, rank);
  }
  Snapshot snapshot(std::uint32_t agent) const { return states_[agent]; }
  bool knows(std::uint32_t agent, std::uint32_t other, std::uint32_t count) const {
    return states_[agent]->done[other] >= count;
  }
  bool hasHeardOf(std::uint32_t agent, std::uint32_t rank) const { return states_[agent]->begun[rank]; }

  void hear(std::uint32_t agent, std::uint32_t rank) {
    if (!hasHeardOf(agent, rank))
      own(agent).begun[rank] = true;
  }
  /// `agent` learns what `other` knew, and that `count` of its nodes are done.
  void join(std::uint32_t agent, const Snapshot &told, std::uint32_t other, std::uint32_t count) {
    State &mine = own(agent);
    for (std::size_t i = 0; i < mine.done.size(); ++i)
      mine.done[i] = std::max(mine.done[i], told->done[i]);
    mine.done[other] = std::max(mine.done[other], count);
    for (std::size_t r = 0; r < mine.begun.size(); ++r)
      if (told->begun[r])
        mine.begun[r] = true;
    mine.begun[rankOf_[other]] = true;
  }

private:
  /// The state of `agent`, with nobody else's hand on it.
  State &own(std::uint32_t agent) {
    if (states_[agent].use_count() > 1)
      states_[agent] = std::make_shared<State>(*states_[agent]);
    return *states_[agent];
  }

  std::vector<std::uint32_t> rankOf_;
  std::vector<std::shared_ptr<State>> states_;
};

} // namespace mscclc::passes::schedule
