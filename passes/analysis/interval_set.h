// A set of integer ranges that answers "does any of them meet this one?".
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

namespace mscclc::passes {

/// Disjoint ranges. Ranges that touch are merged, so the usual walk through neighbouring chunks remains a single range.
/// Insertion and erasure cost O(log n) amortised, and a query costs O(log n).
class IntervalSet {
public:
  /// Adds [begin, end).
  void insert(std::uint64_t begin, std::uint64_t end) {
    if (begin >= end)
      return;
    auto at = firstEndingFrom(begin);
    for (; at != ends_.end() && at->first <= end; at = ends_.erase(at)) {
      begin = std::min(begin, at->first);
      end = std::max(end, at->second);
    }
    ends_.emplace_hint(at, begin, end);
  }
  /// Removes [begin, end).
  void erase(std::uint64_t begin, std::uint64_t end) {
    for (auto at = firstEndingFrom(begin + 1); at != ends_.end() && at->first < end && begin < end;) {
      const auto [first, last] = *at;
      at = ends_.erase(at);
      if (first < begin)
        ends_.emplace_hint(at, first, begin);
      if (end < last)
        at = ends_.emplace_hint(at, end, last);
    }
  }
  /// True if a range of the set overlaps [begin, end).
  bool meets(std::uint64_t begin, std::uint64_t end) const {
    const auto after = ends_.lower_bound(end);
    return begin < end && after != ends_.begin() && std::prev(after)->second > begin;
  }
  void clear() { ends_.clear(); }

private:
  /// Returns the first range that ends at `end` or later.
  std::map<std::uint64_t, std::uint64_t>::iterator firstEndingFrom(std::uint64_t end) {
    const auto after = ends_.upper_bound(end);
    return after != ends_.begin() && std::prev(after)->second >= end ? std::prev(after) : after;
  }

  std::map<std::uint64_t, std::uint64_t> ends_; ///< [begin of a range]
};

} // namespace mscclc::passes
