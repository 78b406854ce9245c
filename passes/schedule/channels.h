// The channels and semaphores through which the blocks of a schedule synchronise.
#pragma once

#include "passes/analysis/rank_distances.h"
#include "passes/representative_rank.h"
#include "passes/schedule/sync_plan.h"

#include <compare>
#include <map>
#include <tuple>

namespace mscclc::passes::schedule {

/// The channels and semaphores of a program. Each pair of blocks that synchronise has one channel of each type that the
/// pair uses. Each pair of blocks between which a port puts has one more. Each block that synchronises with another
/// block of its rank has a semaphore. All ranks of a symmetric program number channels and semaphores in the same way.
/// A plan of one rank has only those of rank 0.
class Channels {
public:
  /// Adds the channels to the ranks of `program`. `movement`: the statements, which were taken out of the program.
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
  /// Returns the agent at which the data of `statement`, a port's put, arrive.
  std::uint32_t receiverOf(std::uint32_t statement) const { return receivers_[statement]; }
  /// Returns the switch channel that the block of `statement` uses for places on several ranks.
  std::uint32_t multicast(const ir::Movement &movement, const ir::Move &statement) const {
    return switches_.at(groupOf(movement, statement));
  }

  /// For a plan of one rank, returns the number of each channel at its other end. `first`: the planned rank, with its
  /// channels.
  OtherEnds otherEnds(const ir::Rank &first) const;

private:
  enum class Kind : std::uint8_t { Memory, Port, Put, Semaphore };
  /// A connection from an agent to another one: a channel, or a semaphore that the first agent releases.
  struct Link {
    Kind kind;
    std::uint32_t other, id;
    friend auto operator<=>(const Link &, const Link &) = default;
  };
  /// The end of a channel on one rank. Its members are the key by which the rank numbers its channels. Two ranks number
  /// the channels between them in the same order: by the smaller block number, then the larger one, then by which rank
  /// has the smaller one.
  struct End {
    Kind kind;
    std::uint32_t distance, smallBlock, largeBlock;
    bool turned;
    std::uint32_t own, other;
    friend auto operator<=>(const End &, const End &) = default;
  };

  /// Identifies a switch channel: its block, its buffer, all its ranks, and the rank that uses the channel.
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
  std::vector<std::uint32_t> firstAgent_; ///< [rank]: its first agent; then the number of agents
  std::vector<std::vector<Link>> links_;  ///< [agent], sorted
  /// [agent]: the ranks to which it has a memory channel, each with one agent of that rank, sorted.
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> towards_;
  std::map<SwitchGroup, std::uint32_t> switches_; ///< the number of the switch channel on the rank
  std::vector<std::uint32_t> receivers_;          ///< [statement]
};

} // namespace mscclc::passes::schedule
