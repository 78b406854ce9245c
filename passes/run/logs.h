// The messages that each block received, in the order of their arrival. These are the edges of happens-before.
//
// An entry is a message clock: the progress of the sender, and the length of the sender's own log at that time. So the
// logs are a graph with 20 bytes for each edge. Everything that a block knows is reachable from the entries of its own
// log. Example: A signals B, then B signals C. The log of B has an entry (A, phase of A, 0 entries). The log of C has
// (B, phase of B, 1 entry), and thereby reaches A.
#pragma once

#include "passes/run/epoch.h"

#include <span>
#include <vector>

namespace mscclc::passes::proof {

/// The logs of all blocks.
class Logs {
public:
  struct Entry : MessageClock {
    std::uint32_t previous; ///< position after the last earlier entry that may contain more than this one
    Entry(const MessageClock &clock, std::uint32_t previous) : MessageClock(clock), previous(previous) {}
  };
  /// The state of a block at the beginning of a launch.
  struct Begin {
    std::uint32_t phase = 0, length = 0;
  };

  explicit Logs(const ProgramIndex &index) : index_(index), logs_(index.numBlocks()) {}

  const std::vector<Entry> &of(std::uint32_t block) const { return logs_[block]; }
  std::uint32_t length(std::uint32_t block) const { return static_cast<std::uint32_t>(logs_[block].size()); }
  void add(std::uint32_t block, const MessageClock &clock);

  /// Makes an empty node, and returns its number. A node holds the common part of several entries: the knowledge of the
  /// blocks of a meeting, or the additional knowledge of a thread or an operation beyond that of its block. The numbers
  /// of nodes come after those of blocks.
  std::uint32_t newNode() {
    nodes_.push_back(static_cast<std::uint32_t>(clocks_.size()));
    return index_.numBlocks() + numNodes() - 1;
  }
  /// Adds a clock to the newest node.
  void addToNode(const MessageClock &clock) { clocks_.push_back(clock); }
  std::uint32_t numNodes() const { return static_cast<std::uint32_t>(nodes_.size()); }
  bool isNode(std::uint32_t agent) const { return agent >= index_.numBlocks(); }
  std::span<const MessageClock> node(std::uint32_t agent) const {
    const std::uint32_t n = agent - index_.numBlocks();
    return {clocks_.data() + nodes_[n], clocks_.data() + (n + 1 < nodes_.size() ? nodes_[n + 1] : clocks_.size())};
  }

  /// Begins a launch. `blocks`: the state of each block. `meetings`: for each rank, the meeting with which it began the
  /// launch, or `none`.
  void beginLaunch(std::vector<Begin> blocks, std::vector<std::uint32_t> meetings);
  std::uint32_t numLaunches() const { return static_cast<std::uint32_t>(begins_.size()); }
  const Begin &begin(std::uint32_t launch, std::uint32_t block) const { return begins_[launch][block]; }
  std::uint32_t meeting(std::uint32_t launch, std::uint32_t rank) const { return meetings_[launch][rank]; }
  /// Returns the number of launches that `block` had begun by `phase`.
  std::uint32_t launchesBegun(std::uint32_t block, std::uint32_t phase) const {
    std::uint32_t begun = numLaunches();
    while (begun != 0 && begins_[begun - 1][block].phase > phase)
      --begun;
    return begun;
  }

private:
  const ProgramIndex &index_;
  std::vector<std::vector<Entry>> logs_;             // [block]
  std::vector<std::uint32_t> nodes_;                 // [node]: the index of its first clock in clocks_
  std::vector<MessageClock> clocks_;                 // the clocks of nodes
  std::vector<std::vector<Begin>> begins_;           // [launch][block]
  std::vector<std::vector<std::uint32_t>> meetings_; // [launch][rank]
};

} // namespace mscclc::passes::proof
