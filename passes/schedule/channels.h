// The channels and semaphores through which the blocks of a schedule synchronise.
#pragma once

#include "passes/analysis/rank_distances.h"
#include "passes/representative_rank.h"
#include "passes/schedule/sync_plan.h"

#include <compare>
#include <map>
#include <tuple>

namespace mscclc::passes::schedule {

/// The channels and semaphores of a program. Each pair of blocks that synchronise has one channel of each type that it
/// uses. Each pair of blocks between which a port puts has one more. Each block that synchronises with another block of
/// its rank has a semaphore. All ranks of a symmetric program number them in the same way. For a plan of one rank, they
/// are those of rank 0.
class Channels {
public:
  /// Adds the channels to the ranks of `program`. `movement`: the statements of the program, which are no longer in it.
  /// `distances`: the distances of these statements.
  Channels(ir::Program &program, const ir::Movement &movement, const SyncPlan &plan, const RankDistances &distances);

  /// Returns the channel of agent `own` that leads to agent `other`.
  std::uint32_t memory(std::uint32_t own, std::uint32_t other) const { return at(Kind::Memory, own, other); }
  std::uint32_t port(std::uint32_t own, std::uint32_t other) const { return at(Kind::Port, own, other); }
  /// Returns the channel for puts of ports from `own` to `other`.
  std::uint32_t put(std::uint32_t own, std::uint32_t other) const { return at(Kind::Put, own, other); }
  /// Returns the semaphore that `from` releases and `to` acquires.
  std::uint32_t semaphore(std::uint32_t from, std::uint32_t to) const { return at(Kind::Semaphore, from, to); }
  /// Returns a memory channel of agent `own` to `rank`.
  std::uint32_t memoryTo(std::uint32_t own, std::uint32_t rank) const;
  /// Returns the agent that receives the data that the statement puts through a port.
  std::uint32_t receiverOf(std::uint32_t statement) const { return receivers_[statement]; }
  /// Returns the switch channel of agent `own` over the places of the statement on all ranks of its group.
  std::uint32_t multicast(const ir::Movement &movement, const ir::Move &statement) const {
    return switches_.at(groupOf(movement, statement));
  }

  /// Returns the other ends, for a plan of one rank. `first` is that rank after its channels were added.
  OtherEnds otherEnds(const ir::Rank &first) const;

private:
  enum class Kind : std::uint8_t { Memory, Port, Put, Semaphore };
  /// A connection of an agent to another one: a channel, or a semaphore that it releases.
  struct Link {
    Kind kind;
    std::uint32_t other, id;
    friend auto operator<=>(const Link &, const Link &) = default;
  };
  /// A channel as one of its ranks numbers it. Both ends derive the same order from it: by the smaller block number
  /// first, and then by the block's owner.
  struct End {
    Kind kind;
    std::uint32_t distance, smallBlock, largeBlock;
    bool turned;
    std::uint32_t own, other;
    friend auto operator<=>(const End &, const End &) = default;
  };

  /// Identifies a switch channel: the block that uses it, its buffer, its ranks, and the position of this rank among
  /// them.
  using SwitchGroup = std::tuple<std::uint32_t, ir::BufferKind, std::vector<std::uint32_t>, std::uint32_t>;
  static SwitchGroup groupOf(const ir::Movement &movement, const ir::Move &statement);

  /// Returns the distance between the ranks of the two agents.
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
  /// [agent]: the ranks to which it has a memory channel, each with an agent there, sorted.
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> towards_;
  std::map<SwitchGroup, std::uint32_t> switches_; ///< the number of the switch channel on the rank
  std::vector<std::uint32_t> receivers_;          ///< [statement]
};

} // namespace mscclc::passes::schedule
