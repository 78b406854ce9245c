// The nodes of a schedule (see sync_plan.h): what each block does, in the list order of statements. What ports put
// arrives after all that is as deep in dependences, so that no block waits for it before a put that does not need it,
// and all ranks of a symmetric program know as much.
#pragma once

#include "passes/schedule/statement_distances.h"
#include "passes/schedule/statement_graph.h"

#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace mscclc::passes::schedule {

/// The nodes of all blocks, numbered in the list order of statements.
class Nodes {
public:
  /// `mostPeers`: blocks of other ranks that one block can have channels to. `relays`: blocks that each rank has
  /// besides, after the others, which have no nodes.
  Nodes(const ir::Program &program, const StatementGraph &graph, const StatementDistances &distances,
        std::uint32_t mostPeers, std::uint32_t relays = 0);

  /// A node: what it does, and where it stands.
  struct Place {
    std::uint32_t statement = 0;
    bool arrives = false; ///< what the statement has put is there
    std::uint32_t agent = 0;
    std::uint32_t index = 0; ///< among the agent's nodes
  };

  std::uint32_t size() const { return static_cast<std::uint32_t>(places_.size()); }
  const Place &at(std::uint32_t node) const { return places_[node]; }
  /// Where the statement is executed; of a port's put the node where it is issued.
  std::uint32_t ofStatement(std::uint32_t statement) const { return issued_[statement]; }
  /// Visits the nodes of the earlier statement, in order, that are over when the one that depends on it may begin: of a
  /// port's put its arrival, or where its source is wanted, the node that flushes it.
  void eachCompleting(const Dependence &dependence, auto &&visit) const {
    const std::uint32_t issued = issued_[dependence.on], arrived = arrived_[dependence.on];
    if (issued == arrived || dependence.ofRead)
      visit(issued);
    if (issued != arrived && dependence.ofWrite)
      visit(arrived);
  }

  /// How many nodes of its agent are over when `node`, a port's put, has arrived: what the block had put just before
  /// may still be under way, as each thread pushes and flushes its own.
  std::uint32_t countAtArrival(std::uint32_t node) const { return settled_[node]; }

  std::uint32_t numAgents() const { return static_cast<std::uint32_t>(rankOf_.size()); }
  std::uint32_t rankOf(std::uint32_t agent) const { return rankOf_[agent]; }
  std::uint32_t blockOf(std::uint32_t agent) const { return agent - firstAgent_[rankOf_[agent]]; }
  std::uint32_t lengthOf(std::uint32_t agent) const { return lengths_[agent]; }
  /// The number of the agent in clocks: by block, then rank. Mostly those tell each other that have the same block, so
  /// what one knows of others is on few pages.
  std::uint32_t inClocks(std::uint32_t agent) const { return inClocks_[agent]; }
  /// The agents of `rank`: from the first to before the second. There is at least one.
  std::pair<std::uint32_t, std::uint32_t> agentsOf(std::uint32_t rank) const {
    return {firstAgent_[rank], firstAgent_[rank + 1]};
  }
  /// Of each rank.
  std::uint32_t numRelays() const { return relays_; }
  std::uint32_t firstRelayOf(std::uint32_t rank) const { return firstAgent_[rank + 1] - relays_; }
  /// The block of `rank` that deals with `agent`, of another rank, when launches begin and end: if `agent` is the k-th
  /// block of its rank that reaches `rank`, the k-th of `rank` that reaches back, so that one channel is enough for
  /// both; or else the block of its number, or the last one. Where more reach `rank` than one block has channels for,
  /// and it does not reach them, they are shared out.
  std::uint32_t partnerOf(std::uint32_t agent, std::uint32_t rank) const;
  /// Agents that reach `rank`, which does not reach them, where they are more than one block has channels for.
  std::vector<std::uint32_t> sharedOutTo(std::uint32_t rank) const;
  /// Nodes of other ranks that touch input or output of `rank`, in order.
  const std::vector<std::uint32_t> &touchingBuffersOf(std::uint32_t rank) const { return touching_[rank]; }

private:
  /// A block of another rank, which is so far away.
  struct BlockOfRank {
    std::uint32_t distance = 0, block = 0, rank = 0;
    friend auto operator<=>(const BlockOfRank &, const BlockOfRank &) = default;
  };
  /// A block of a rank that reaches memory of `peer`.
  struct Reach {
    std::uint32_t peer = 0, block = 0;
    friend auto operator<=>(const Reach &, const Reach &) = default;
  };
  /// The blocks that reach a rank through memory, or by puts of a port, which does not reach their rank so.
  struct OneWay {
    ir::Via via;
    std::uint32_t most;                           ///< that one block of the rank can deal with
    std::vector<std::vector<BlockOfRank>> blocks; ///< [rank], sorted
  };

  void issue(const ir::Program &program, const StatementGraph &graph, std::uint32_t statement);
  void arrive(const ir::Movement &movement, std::uint32_t statement, std::uint32_t receiver);
  void findReaching(const ir::Movement &movement, const StatementGraph &graph);
  void find(OneWay &oneWay, const ir::Movement &movement) const;
  /// Where a block would receive what more blocks of other ranks put than it has channels for, the partners of those
  /// that put receive it, on that rank.
  void shareOutReceivers(const ir::Movement &movement, std::vector<std::uint32_t> &receivers) const;
  std::span<const Reach> reaching(std::uint32_t rank, std::uint32_t peer) const;
  void numberInClocks();
  void append(std::uint32_t statement, bool arrives, bool port, std::uint32_t agent);

  BlockOfRank seenFrom(std::uint32_t rank, std::uint32_t other, std::uint32_t block) const {
    return {distances_.between(rank, other), block, other};
  }

  const RankDistances distances_;
  const std::uint32_t mostPeers_, relays_;
  std::vector<Place> places_;
  std::vector<std::uint32_t> issued_, arrived_;            ///< [statement]; equal where nothing arrives
  std::vector<std::uint32_t> firstAgent_;                  ///< [rank], and the end
  std::vector<std::uint32_t> rankOf_, lengths_, inClocks_; ///< [agent]
  std::array<OneWay, 2> oneWay_;
  std::vector<std::uint32_t> settled_;               ///< [node]: nodes of its agent before the last run of port puts
  std::vector<std::uint32_t> runs_;                  ///< [agent]: where its present run of port puts began
  std::vector<std::vector<std::uint32_t>> touching_; ///< [rank]: nodes of others that touch its buffers
  std::vector<std::vector<Reach>> reaching_;         ///< [rank]: sorted
};

} // namespace mscclc::passes::schedule
