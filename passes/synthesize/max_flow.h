// Maximum flows, by blocking flows (Dinic 1970). Capacities are integers, so results are exact.
//
// Boost.Graph has such algorithms, too. But a synthesis computes tens of thousands of flows, and this class keeps its
// network from one flow to the next. It has sixty lines and saves the compiler a dependency.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace mscclc::passes::synthesize {

class MaxFlow {
public:
  using Amount = std::int64_t;
  /// More than any sum of other capacities.
  static constexpr Amount unlimited = std::numeric_limits<Amount>::max() / 4;

  explicit MaxFlow(std::uint32_t vertices) : first_(vertices, none), level_(vertices), next_(vertices) {}

  /// Adds an edge and returns its number. A capacity is at least 0.
  std::uint32_t add(std::uint32_t from, std::uint32_t to, Amount capacity);
  void setCapacity(std::uint32_t edge, Amount capacity) { edges_[2 * edge].capacity = capacity; }

  /// Returns the largest flow from `source` to `sink`, or `enough` if it is at least that. Earlier flows are removed.
  Amount flow(std::uint32_t source, std::uint32_t sink, Amount enough = unlimited);
  /// Returns, for each vertex, true if it can reach `sink` by edges that the last flow has not filled. If that flow was
  /// less than enough, the edges into these vertices are a smallest cut.
  std::vector<bool> sinkSide(std::uint32_t sink) const;

private:
  static constexpr std::uint32_t none = 0xffffffff;
  struct Edge {
    std::uint32_t to, next; ///< `next`: another edge from the same vertex
    Amount capacity, left;
  };
  bool findLevels(std::uint32_t source, std::uint32_t sink);
  Amount push(std::uint32_t vertex, std::uint32_t sink, Amount most);

  std::vector<Edge> edges_;          ///< each edge is followed by its reverse
  std::vector<std::uint32_t> first_; ///< [vertex]
  std::vector<std::uint32_t> level_, next_, queue_;
};

} // namespace mscclc::passes::synthesize
