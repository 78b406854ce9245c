// What each block was told, in the order in which it came: the edges of happens-before, kept as they come.
//
// An entry is a message clock: how far the sender was, and how much of the sender's own log comes along. So the logs
// are a graph, 20 bytes an edge: whatever a block can know is reached from the entries of its own log.
#pragma once

#include "passes/run/epoch.h"

#include <span>
#include <vector>

namespace mscclc::passes::proof {

class Logs {
public:
  struct Entry : MessageClock {
    std::uint32_t previous; ///< place after the last entry before this one that tells more than this one does
    Entry(const MessageClock &clock, std::uint32_t previous) : MessageClock(clock), previous(previous) {}
  };
  /// A block where a launch began.
  struct Begin {
    std::uint32_t phase = 0, length = 0;
  };

  explicit Logs(const ProgramIndex &index) : index_(index), logs_(index.numBlocks()) {}

  const std::vector<Entry> &of(std::uint32_t block) const { return logs_[block]; }
  std::uint32_t length(std::uint32_t block) const { return static_cast<std::uint32_t>(logs_[block].size()); }
  void add(std::uint32_t block, const MessageClock &clock);

  /// Nodes hold what several entries have in common: what the blocks of a meeting knew, or what a thread or an
  /// operation knew more than its block. They are numbered after the blocks.
  std::uint32_t newNode() {
    nodes_.push_back(static_cast<std::uint32_t>(clocks_.size()));
    return index_.numBlocks() + numNodes() - 1;
  }
  /// Of the newest node.
  void addToNode(const MessageClock &clock) { clocks_.push_back(clock); }
  std::uint32_t numNodes() const { return static_cast<std::uint32_t>(nodes_.size()); }
  bool isNode(std::uint32_t agent) const { return agent >= index_.numBlocks(); }
  std::span<const MessageClock> node(std::uint32_t agent) const {
    const std::uint32_t n = agent - index_.numBlocks();
    return {clocks_.data() + nodes_[n], clocks_.data() + (n + 1 < nodes_.size() ? nodes_[n + 1] : clocks_.size())};
  }

  /// Where each block is; and by rank the meeting with which it began the launch, or `none`.
  void beginLaunch(std::vector<Begin> blocks, std::vector<std::uint32_t> meetings);
  std::uint32_t numLaunches() const { return static_cast<std::uint32_t>(begins_.size()); }
  const Begin &begin(std::uint32_t launch, std::uint32_t block) const { return begins_[launch][block]; }
  std::uint32_t meeting(std::uint32_t launch, std::uint32_t rank) const { return meetings_[launch][rank]; }
  /// Launches that `block` had begun by `phase`.
  std::uint32_t launchesBegun(std::uint32_t block, std::uint32_t phase) const {
    std::uint32_t begun = numLaunches();
    while (begun != 0 && begins_[begun - 1][block].phase > phase)
      --begun;
    return begun;
  }

private:
  const ProgramIndex &index_;
  std::vector<std::vector<Entry>> logs_;             // [block]
  std::vector<std::uint32_t> nodes_;                 // the first of each one's clocks_
  std::vector<MessageClock> clocks_;                 // of nodes
  std::vector<std::vector<Begin>> begins_;           // [launch][block]
  std::vector<std::vector<std::uint32_t>> meetings_; // [launch][rank]
};

} // namespace mscclc::passes::proof
