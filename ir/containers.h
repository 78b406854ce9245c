// Containers and algorithms that the standard library lacks. All parts of the compiler may use them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

namespace mscclc::ir {

/// Sorts `items` by `key`, and keeps only one of several items with equal keys.
template <typename T, typename Key = std::identity> void sortUnique(std::vector<T> &items, Key key = {}) {
  std::ranges::sort(items, {}, key);
  items.erase(std::ranges::unique(items, {}, key).begin(), items.end());
}

/// Returns 0, 1, …, `size` - 1.
inline std::vector<std::uint32_t> numbersBelow(std::size_t size) {
  std::vector<std::uint32_t> numbers(size);
  std::iota(numbers.begin(), numbers.end(), 0u);
  return numbers;
}
/// Returns `items`, sorted by `keyOf(item)`. Computes each key once. Items with equal keys keep their order.
template <typename KeyOf> std::vector<std::uint32_t> sortedBy(std::vector<std::uint32_t> items, KeyOf keyOf) {
  std::vector<std::pair<decltype(keyOf(0u)), std::uint32_t>> keyed;
  keyed.reserve(items.size());
  for (const std::uint32_t item : items)
    keyed.emplace_back(keyOf(item), item);
  std::ranges::stable_sort(keyed, {}, &decltype(keyed)::value_type::first);
  std::ranges::transform(keyed, items.begin(), &decltype(keyed)::value_type::second);
  return items;
}

/// A set of small indices that empties in constant time.
class StampSet {
public:
  void clear() { ++stamp_; }
  bool contains(std::uint32_t index) const { return index < stamps_.size() && stamps_[index] == stamp_; }
  /// Adds `index`. Returns false if the set contained it already.
  bool insert(std::uint32_t index) {
    if (contains(index))
      return false;
    if (index >= stamps_.size())
      stamps_.resize(std::max(std::size_t{index} + 1, stamps_.size() * 2), 0);
    stamps_[index] = stamp_;
    return true;
  }

private:
  std::vector<std::uint64_t> stamps_; ///< [index]: equal to `stamp_` if the set contains `index`
  std::uint64_t stamp_ = 1;
};

/// Disjoint sets of the numbers from 0 to `size` - 1, which can be joined (union-find). The least member of a set names
/// it. At first each number is a set of its own.
template <typename Index = std::uint32_t> class DisjointSets {
public:
  explicit DisjointSets(std::size_t size) : parents_(size) { std::iota(parents_.begin(), parents_.end(), Index{0}); }
  /// Returns the set that contains `item`.
  Index find(Index item) const {
    while (parents_[item] != item)
      item = parents_[item] = parents_[parents_[item]];
    return item;
  }
  void join(Index a, Index b) {
    a = find(a);
    b = find(b);
    parents_[std::max(a, b)] = std::min(a, b);
  }

private:
  mutable std::vector<Index> parents_; ///< each item leads to the least member of its set; find() shortens the path
};

} // namespace mscclc::ir
