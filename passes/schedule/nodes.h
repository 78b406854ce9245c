// The nodes of a schedule (see sync_plan.h): the work of each block, in the list order of statements. The arrival of a
// port's put comes after all nodes of the same depth in dependences. So no block waits for an arrival before a put that
// does not need this arrival, the puts of a block follow one another, and all ranks of a symmetric program have the
// same knowledge.
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
  /// `mostPeers`: the most blocks of other ranks to which one block can have channels. `relays`: the number of
  /// additional blocks of each rank. These come last and have no nodes.
  Nodes(const ir::Program &program, const StatementGraph &graph, const StatementDistances &distances,
        std::uint32_t mostPeers, std::uint32_t relays = 0);

  /// A node: the work of a statement, and the agent that does it.
  struct Node {
    std::uint32_t statement = 0;
    bool arrives = false; ///< true for the arrival of a port's put, false for its issue
    std::uint32_t agent = 0;
    std::uint32_t index = 0; ///< number among the agent's nodes
  };

  std::uint32_t size() const { return static_cast<std::uint32_t>(places_.size()); }
  const Node &at(std::uint32_t node) const { return places_[node]; }
  /// Returns the node that executes the statement; for a port's put, the node that issues it.
  std::uint32_t ofStatement(std::uint32_t statement) const { return issued_[statement]; }
  /// Returns the node at which the data of `statement`, a port's put, arrive.
  std::uint32_t arrivalOf(std::uint32_t statement) const { return arrived_[statement]; }
  /// Returns the agent at which the data of `statement`, a port's put, arrive.
  std::uint32_t receiverOf(std::uint32_t statement) const { return places_[arrived_[statement]].agent; }
  /// Visits, in order, the nodes of the earlier statement that must be over before the later statement of `dependence`
  /// may begin. If the earlier statement is a port's put, visits its arrival if the dependence is about the written
  /// memory, and the node that issues it if the dependence is about its source.
  void eachCompleting(const Dependence &dependence, auto &&visit) const {
    const std::uint32_t issued = issued_[dependence.on], arrived = arrived_[dependence.on];
    if (issued == arrived || dependence.ofRead)
      visit(issued);
    if (issued != arrived && dependence.ofWrite)
      visit(arrived);
  }

  /// Returns the number of nodes of the putting agent that are over when `node`, a port's put, has arrived. Puts
  /// directly before `node` may still be in flight, because each thread pushes and flushes its own put.
  std::uint32_t countAtArrival(std::uint32_t node) const { return settled_[node]; }

  std::uint32_t numAgents() const { return static_cast<std::uint32_t>(rankOf_.size()); }
  std::uint32_t rankOf(std::uint32_t agent) const { return rankOf_[agent]; }
  std::uint32_t blockOf(std::uint32_t agent) const { return agent - firstAgent_[rankOf_[agent]]; }
  std::uint32_t lengthOf(std::uint32_t agent) const { return lengths_[agent]; }
  /// Returns the number of the agent in clocks: by block, then by rank. Mostly agents with the same block number
  /// synchronise with each other, so the entries of a clock are on few pages.
  std::uint32_t inClocks(std::uint32_t agent) const { return inClocks_[agent]; }
  /// Returns the range of agents of `rank`: its first agent, and the agent after its last one. A rank has at least one
  /// agent.
  std::pair<std::uint32_t, std::uint32_t> agentsOf(std::uint32_t rank) const {
    return {firstAgent_[rank], firstAgent_[rank + 1]};
  }
  /// Returns the number of relays of each rank.
  std::uint32_t numRelays() const { return relays_; }
  std::uint32_t firstRelayOf(std::uint32_t rank) const { return firstAgent_[rank + 1] - relays_; }
  /// Returns the block of `rank` that synchronises with `agent`, of another rank, when launches begin and end. If
  /// blocks of `rank` also reach the agent's rank, the partner of the k-th block in one direction is the k-th block in
  /// the other direction, or the last block. Then one channel serves both directions. Otherwise the partner has the
  /// same block number as `agent`, or is the last block of `rank`. But if one block has too few channels for all
  /// agents, the agents are distributed to all blocks of `rank`.
  std::uint32_t partnerOf(std::uint32_t agent, std::uint32_t rank) const;
  /// Returns the agents that reach `rank` although `rank` does not reach their ranks. Returns an empty list if one
  /// block has channels for all these agents.
  std::vector<std::uint32_t> sharedOutTo(std::uint32_t rank) const;
  /// Returns the nodes of other ranks that touch input or output of `rank`, in order.
  const std::vector<std::uint32_t> &touchingBuffersOf(std::uint32_t rank) const { return touching_[rank]; }

private:
  /// A block of another rank, with its distance.
  struct BlockOfRank {
    std::uint32_t distance = 0, block = 0, rank = 0;
    friend auto operator<=>(const BlockOfRank &, const BlockOfRank &) = default;
  };
  /// A block of a rank that reaches memory of `peer`.
  struct Reach {
    std::uint32_t peer = 0, block = 0;
    friend auto operator<=>(const Reach &, const Reach &) = default;
  };
  /// For each rank, the blocks of other ranks that reach it by one means: through memory, or by puts of a port. A block
  /// is left out if the rank reaches the block's rank by the same means.
  struct OneWay {
    ir::Via via;
    std::uint32_t most;                           ///< the most other blocks that one block of the rank can serve
    std::vector<std::vector<BlockOfRank>> blocks; ///< [rank], sorted
  };

  void issue(const ir::Program &program, const StatementGraph &graph, std::uint32_t statement);
  void arrive(const ir::Movement &movement, std::uint32_t statement, std::uint32_t receiver);
  void findReaching(const ir::Movement &movement, const StatementGraph &graph);
  void find(OneWay &oneWay, const ir::Movement &movement) const;
  /// Finds ranks with a block that would receive puts from more blocks than it has channels. On such a rank, the
  /// partner of each putting block receives the data instead.
  void shareOutReceivers(const ir::Movement &movement, std::vector<std::uint32_t> &receivers) const;
  std::span<const Reach> reaching(std::uint32_t rank, std::uint32_t peer) const;
  void numberInClocks();
  void append(std::uint32_t statement, bool arrives, bool port, std::uint32_t agent);

  BlockOfRank seenFrom(std::uint32_t rank, std::uint32_t other, std::uint32_t block) const {
    return {distances_.between(rank, other), block, other};
  }

  const RankDistances distances_;
  const std::uint32_t mostPeers_, relays_;
  std::vector<Node> places_;
  std::vector<std::uint32_t> issued_,
      arrived_; ///< [statement]: the nodes of its issue and of its arrival; equal if nothing arrives
  std::vector<std::uint32_t> firstAgent_;                  ///< [rank]: its first agent; then the number of agents
  std::vector<std::uint32_t> rankOf_, lengths_, inClocks_; ///< [agent]
  std::array<OneWay, 2> oneWay_;
  std::vector<std::uint32_t> settled_; ///< [node]: number of its agent's nodes up to the last one that is no port put
  std::vector<std::uint32_t> runs_;    ///< [agent]: first node of its current run of port puts
  std::vector<std::vector<std::uint32_t>> touching_; ///< [rank]: nodes of other ranks that touch its buffers
  std::vector<std::vector<Reach>> reaching_;         ///< [rank]: sorted
};

} // namespace mscclc::passes::schedule
