// Sorts by keys of several numbers in linear time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace mscclc::passes::schedule {

/// The numbers 0, 1, …, sorted by one key after the other. The most important key comes last. Equal numbers keep their
/// order.
class StableOrder {
public:
  explicit StableOrder(std::size_t size) : items_(size) { std::iota(items_.begin(), items_.end(), 0); }
  explicit StableOrder(std::vector<std::uint32_t> items) : items_(std::move(items)) {}

  /// Sorts by `keyOf(item)`, which has 32 bits.
  void by(auto &&keyOf) {
    keyed_.clear();
    keyed_.reserve(items_.size());
    std::uint32_t most = 0, last = 0;
    bool isSorted = true;
    for (const std::uint32_t item : items_) {
      const std::uint32_t key = keyOf(item);
      isSorted = isSorted && last <= key;
      last = key;
      most = std::max(most, key);
      keyed_.push_back(std::uint64_t{key} << 32 | item);
    }
    if (isSorted)
      return;
    moved_.resize(keyed_.size());
    for (std::uint32_t shift = 0; shift < 32 && most >> shift != 0; shift += digitBits)
      sortByDigit(32 + shift);
    for (std::size_t i = 0; i < items_.size(); ++i)
      items_[i] = static_cast<std::uint32_t>(keyed_[i]);
  }
  std::vector<std::uint32_t> take() { return std::move(items_); }

private:
  static constexpr std::uint32_t digitBits = 11;

  /// Does one pass of radix sort by the digit that begins at bit `shift`.
  void sortByDigit(std::uint32_t shift) {
    constexpr std::uint32_t mask = (1u << digitBits) - 1;
    std::array<std::uint32_t, mask + 1> next{};
    for (const std::uint64_t one : keyed_)
      ++next[one >> shift & mask];
    std::exclusive_scan(next.begin(), next.end(), next.begin(), 0u);
    for (const std::uint64_t one : keyed_)
      moved_[next[one >> shift & mask]++] = one;
    std::swap(keyed_, moved_);
  }

  std::vector<std::uint32_t> items_;
  std::vector<std::uint64_t> keyed_, moved_; ///< key and item
};

} // namespace mscclc::passes::schedule
