#include "passes/synthesize/max_flow.h"

#include <algorithm>

namespace mscclc::passes::synthesize {

std::uint32_t MaxFlow::add(std::uint32_t from, std::uint32_t to, Amount capacity) {
  const auto number = static_cast<std::uint32_t>(edges_.size());
  edges_.push_back({to, first_[from], capacity, 0});
  first_[from] = number;
  edges_.push_back({from, first_[to], 0, 0});
  first_[to] = number + 1;
  return number / 2;
}

MaxFlow::Amount MaxFlow::flow(std::uint32_t source, std::uint32_t sink, Amount enough) {
  for (Edge &edge : edges_)
    edge.left = edge.capacity;
  Amount total = 0;
  while (total < enough && findLevels(source, sink)) {
    next_ = first_;
    total += push(source, sink, enough - total);
  }
  return total;
}

bool MaxFlow::findLevels(std::uint32_t source, std::uint32_t sink) {
  std::ranges::fill(level_, none);
  level_[source] = 0;
  queue_.assign(1, source);
  for (std::size_t i = 0; i < queue_.size() && level_[sink] == none; ++i)
    for (std::uint32_t e = first_[queue_[i]]; e != none; e = edges_[e].next)
      if (edges_[e].left > 0 && level_[edges_[e].to] == none) {
        level_[edges_[e].to] = level_[queue_[i]] + 1;
        queue_.push_back(edges_[e].to);
      }
  return level_[sink] != none;
}

MaxFlow::Amount MaxFlow::push(std::uint32_t vertex, std::uint32_t sink, Amount most) {
  if (vertex == sink)
    return most;
  Amount pushed = 0;
  for (std::uint32_t &e = next_[vertex]; e != none; e = edges_[e].next) {
    Edge &edge = edges_[e];
    if (edge.left > 0 && level_[edge.to] == level_[vertex] + 1) {
      const Amount part = push(edge.to, sink, std::min(most - pushed, edge.left));
      edge.left -= part;
      edges_[e ^ 1].left += part;
      pushed += part;
      if (pushed == most)
        return pushed;
    }
  }
  return pushed;
}

std::vector<bool> MaxFlow::sinkSide(std::uint32_t sink) const {
  std::vector<bool> reaches(first_.size(), false);
  reaches[sink] = true;
  std::vector<std::uint32_t> found{sink};
  for (std::size_t i = 0; i < found.size(); ++i)
    for (std::uint32_t e = first_[found[i]]; e != none; e = edges_[e].next)
      if (edges_[e ^ 1].left > 0 && !reaches[edges_[e].to]) {
        reaches[edges_[e].to] = true;
        found.push_back(edges_[e].to);
      }
  return reaches;
}

} // namespace mscclc::passes::synthesize
