// The channels and semaphores over which the blocks of a schedule tell each other.
#pragma once

#include "passes/analysis/rank_distances.h"
#include "passes/representative_rank.h"
#include "passes/schedule/sync_plan.h"

#include <compare>
#include <map>
#include <tuple>

namespace mscclc::passes::schedule {

/// One channel for each two blocks and type that have something to tell each other, one for each two between which a
/// port puts, and one semaphore for each block that tells another of its rank. They are numbered alike on all ranks of
/// a symmetric program. Of a plan of one rank, those of rank 0.
class Channels {
public:
  /// Adds them to the ranks of `program`. `movement`: its statements, which are gone from it.
  /// `distances`: of the statements.
  Channels(ir::Program &program, const ir::Movement &movement, const SyncPlan &plan, const RankDistances &distances);

  /// The channel of agent `own` that leads to agent `other`.
  std::uint32_t memory(std::uint32_t own, std::uint32_t other) const { return at(Kind::Memory, own, other); }
  std::uint32_t port(std::uint32_t own, std::uint32_t other) const { return at(Kind::Port, own, other); }
  /// The one for what ports put from the one to the other.
  std::uint32_t put(std::uint32_t own, std::uint32_t other) const { return at(Kind::Put, own, other); }
  /// The semaphore that `from` releases and `to` acquires.
  std::uint32_t semaphore(std::uint32_t from, std::uint32_t to) const { return at(Kind::Semaphore, from, to); }
  /// Some memory channel of agent `own` to `rank`.
  std::uint32_t memoryTo(std::uint32_t own, std::uint32_t rank) const;
  /// The agent that gets what the statement puts through a port.
  std::uint32_t receiverOf(std::uint32_t statement) const { return receivers_[statement]; }
  /// The switch channel of agent `own` over the places that the statement has on all ranks of its group.
  std::uint32_t multicast(const ir::Movement &movement, const ir::Move &statement) const {
    return switches_.at(groupOf(movement, statement));
  }

  /// Of a plan of one rank, which is `first` by now.
  OtherEnds otherEnds(const ir::Rank &first) const;

private:
  enum class Kind : std::uint8_t { Memory, Port, Put, Semaphore };
  /// What an agent has towards another one: a channel, or a semaphore that it releases.
  struct Link {
    Kind kind;
    std::uint32_t other, id;
    friend auto operator<=>(const Link &, const Link &) = default;
  };
  /// A channel as one of its ranks numbers it. Its name is what both its ends see: the smaller block number first, then
  /// whose it is.
  struct End {
    Kind kind;
    std::uint32_t distance, smallBlock, largeBlock;
    bool turned;
    std::uint32_t own, other;
    friend auto operator<=>(const End &, const End &) = default;
  };

  /// The block that uses it, its buffer and its ranks, and which of them this one is.
  using SwitchGroup = std::tuple<std::uint32_t, ir::BufferKind, std::vector<std::uint32_t>, std::uint32_t>;
  static SwitchGroup groupOf(const ir::Movement &movement, const ir::Move &statement);

  /// Ranks from agent `own` on to `other`.
  std::uint32_t distance(std::uint32_t own, std::uint32_t other) const {
    return distances_.between(plan_.agents[own].rank, plan_.agents[other].rank);
  }
  std::uint32_t at(Kind kind, std::uint32_t own, std::uint32_t other) const;
  const std::uint32_t *agentTowards(std::uint32_t own, std::uint32_t rank) const;
  static void add(std::vector<Link> &links, Kind kind, std::uint32_t other) {
    if (links.empty() || links.back().kind != kind || links.back().other != other)
      links.push_back({kind, other, 0});
  }
  void want(Kind kind, std::uint32_t a, std::uint32_t b);
  std::uint32_t otherOnFirst(std::uint32_t own, std::uint32_t other) const;
  std::uint32_t ownOnFirst(std::uint32_t other) const { return firstAgent_[0] + plan_.agents[other].block; }
  void link(const Sync &sync, std::uint32_t from, std::uint32_t to);
  bool isTurned(std::uint32_t a, std::uint32_t b) const;
  void findLinks(const SyncPlan &plan);
  void sortLinks();
  void findPeers();
  void wantPeers(const ir::Movement &movement);
  void number(ir::Program &program);
  void addSwitches(ir::Program &program, const ir::Movement &movement);
  std::uint32_t agentOf(std::uint32_t rank, std::uint32_t block) const;

  const SyncPlan &plan_;
  const RankDistances distances_;
  std::vector<std::uint32_t> firstAgent_; ///< [rank], and the end
  std::vector<std::vector<Link>> links_;  ///< [agent], sorted
  /// [agent]: ranks that it has a memory channel to, and an agent there, sorted.
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> towards_;
  std::map<SwitchGroup, std::uint32_t> switches_; ///< its number on the rank
  std::vector<std::uint32_t> receivers_;          ///< [statement]
};

} // namespace mscclc::passes::schedule
