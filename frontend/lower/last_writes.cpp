#include "frontend/lower/last_writes.h"

#include <algorithm>

namespace mscclc::frontend {

void LastWrites::note(std::uint32_t rank, const ir::MemoryRange &range, ir::LocId at) {
  places_.push_back(at);
  std::uint32_t &root = roots_[{rank, range.buffer}];
  root = mark(root, all, range);
}

/// Stores the last write for the part of `range` that is in the node's range. Returns the node; makes it if `node` is
/// 0.
std::uint32_t LastWrites::mark(std::uint32_t node, Span span, const ir::MemoryRange &range) {
  if (node == 0) {
    node = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back();
  }
  nodes_[node].any = now();
  if (range.begin <= span.begin && span.end <= range.end) {
    nodes_[node].whole = now(); // this write is later than all writes in the halves
    return node;
  }
  const std::uint64_t middle = span.begin + (span.end - span.begin) / 2;
  if (range.begin < middle) {
    const std::uint32_t low = mark(nodes_[node].low, {span.begin, middle}, range);
    nodes_[node].low = low;
  }
  if (range.end > middle) {
    const std::uint32_t high = mark(nodes_[node].high, {middle, span.end}, range);
    nodes_[node].high = high;
  }
  return node;
}

std::uint32_t LastWrites::last(std::uint32_t rank, const ir::MemoryRange &range) const {
  const auto root = roots_.find({rank, range.buffer});
  return root == roots_.end() ? 0 : find(root->second, all, range);
}

std::uint32_t LastWrites::find(std::uint32_t node, Span span, const ir::MemoryRange &range) const {
  if (node == 0)
    return 0;
  if (range.begin <= span.begin && span.end <= range.end)
    return nodes_[node].any;
  const std::uint64_t middle = span.begin + (span.end - span.begin) / 2;
  std::uint32_t latest = nodes_[node].whole;
  if (range.begin < middle)
    latest = std::max(latest, find(nodes_[node].low, {span.begin, middle}, range));
  if (range.end > middle)
    latest = std::max(latest, find(nodes_[node].high, {middle, span.end}, range));
  return latest;
}

} // namespace mscclc::frontend
