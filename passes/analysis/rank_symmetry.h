// Decides whether ranks are equivalent. No other file decides this.
//
// A numbering of ranks (rank_distances.h) gives each rank a number as seen from another rank. A rank sees itself as 0,
// and rank 0 sees all ranks by their own numbers. For each rank r, one renumbering maps what rank 0 sees to what r
// sees: image(x, r) is to rank r what x is to rank 0. The inverse map is seenFrom(r, ·). Example with 4 ranks in a
// ring: rank 0 sends to rank 1. The image of rank 1 for rank 3 is rank 0, because rank 3 sends to rank 0. Conversely,
// rank 3 sees rank 0 as 1.
//
// Symmetry is a property of one *stage* of a program. A stage is a list of items, each of one rank. The stages are
//
//   - the statements of data movement, after they are placed and ordered (schedule/statement_symmetry.h),
//   - the nodes of thread blocks, which are statements and arrivals of ports' puts (schedule/node_symmetry.h).
//
// The links of a machine are compared in the same way (synthesize/link_symmetry.h). They need no other items.
//
// The operations of thread blocks are another stage. They name channels by numbers, so their symmetry is defined
// separately (block_symmetry.h).
//
// A later stage may have less symmetry, because statements with given blocks, blocks and channels may differ. The
// *position* of an item is its number among the items of its rank. A stage is symmetric if
//
//   - all ranks have the same number of items,
//   - each item equals the item of rank 0 at its position, if the ranks that it names are seen from its own rank. So
//   the
//     image of an item is a copy of it: it is the item at its position, on the image of its rank,
//   - each item needs the images of the items that the item of rank 0 needs, in any order,
//   - and the items that it needs on other ranks have earlier positions there. So all items sorted by position, then by
//     rank, are also in a valid order.
//
// All of this is compared, item by item. If it holds, rank 0 represents all ranks: a result for its items holds for
// their images. Otherwise each rank represents itself, and every image is the item itself.
#pragma once

#include "passes/analysis/rank_distances.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace mscclc::passes {

/// The items of a stage that represent others.
class RankSymmetry {
public:
  /// True if rank 0 represents all ranks.
  bool holds() const { return holds_; }
  friend bool operator==(const RankSymmetry &, const RankSymmetry &) = default;

  std::uint32_t representative(std::uint32_t rank) const { return holds_ ? 0 : rank; }
  bool isRepresentative(std::uint32_t rank) const { return representative(rank) == rank; }
  std::uint32_t numRanks() const { return ranks_; }
  std::uint32_t numRepresentatives() const { return holds_ ? 1 : ranks_; }
  /// Returns the number by which `from` sees `other`, if symmetry holds; otherwise `other`.
  std::uint32_t seenFrom(std::uint32_t from, std::uint32_t other) const {
    return holds_ ? numbering_.between(from, other) : other;
  }
  /// Returns the rank that rank `to` sees as rank 0 sees `rank`: seenFrom(to, imageOfRank(rank, to)) is `rank`.
  std::uint32_t imageOfRank(std::uint32_t rank, std::uint32_t to) const { return seenFrom(seenFrom(to, 0), rank); }
  /// Returns the rank for which the image of `rank` is its representative: imageOfRank(rank, inverseOf(rank)) is
  /// representative(rank).
  std::uint32_t inverseOf(std::uint32_t rank) const { return seenFrom(rank, representative(rank)); }

  /// Returns the items of all representative ranks, in their order.
  std::span<const std::uint32_t> representatives() const { return std::span(items_).first(numRepresentativeItems()); }
  /// Returns the number in representatives() of the item that represents `item`.
  std::uint32_t positionOf(std::uint32_t item) const { return holds_ ? positions_[item] : item; }
  std::uint32_t representativeItem(std::uint32_t item) const { return items_[positionOf(item)]; }
  /// Returns the item of `rank` at `position`, which is the image of the item of rank 0. Only valid if symmetry holds.
  std::uint32_t itemAt(std::uint32_t rank, std::uint32_t position) const {
    return items_[rank * (items_.size() / ranks_) + position];
  }

protected:
  /// Makes each of `items` items represent itself.
  RankSymmetry(const RankDistances &numbering, std::size_t items) : numbering_(numbering), ranks_(numbering.size()) {
    standApart(items);
  }

  void standApart(std::size_t items) {
    holds_ = false;
    positions_ = {};
    items_.resize(items);
    std::iota(items_.begin(), items_.end(), 0);
  }

  /// Finds out whether `stage` is symmetric. It must have
  ///
  ///   - `rankOf(item)`,
  ///   - `isAs(item, first)`: true if `item` equals `first`, an item of rank 0, except for its needs,
  ///   - `eachNeed(item, visit)`: visits the items that it needs, with a number below 16 for the reason.
  void findOut(const auto &stage) {
    const std::size_t items = items_.size();
    holds_ = ranks_ > 1 && findPositions(stage) && compare(stage);
    if (!holds_)
      standApart(items);
  }

private:
  std::size_t numRepresentativeItems() const { return holds_ ? items_.size() / ranks_ : items_.size(); }

  /// Finds the position of each item. Returns false if ranks have different numbers of items.
  bool findPositions(const auto &stage) {
    const std::size_t length = items_.size() / ranks_;
    std::vector<std::uint32_t> counts(ranks_, 0);
    positions_.resize(items_.size());
    for (std::uint32_t item = 0; item < items_.size(); ++item) {
      const std::uint32_t rank = stage.rankOf(item), position = counts[rank]++;
      if (position == length)
        return false;
      positions_[item] = position;
      items_[rank * length + position] = item;
    }
    return length * ranks_ == items_.size();
  }

  bool compare(const auto &stage) const {
    std::vector<std::uint64_t> needs, needsOfFirst;
    for (std::uint32_t position = 0; position < items_.size() / ranks_; ++position) {
      const std::uint32_t first = itemAt(0, position);
      findNeeds(stage, 0, first, needsOfFirst);
      for (const std::uint64_t need : needsOfFirst)
        if (const std::uint64_t seen = need / 16; seen % ranks_ != 0 && seen / ranks_ >= position)
          return false;
      for (std::uint32_t rank = 1; rank < ranks_; ++rank) {
        const std::uint32_t item = itemAt(rank, position);
        if (!stage.isAs(item, first))
          return false;
        findNeeds(stage, rank, item, needs);
        if (needs != needsOfFirst)
          return false;
      }
    }
    return true;
  }

  /// Finds the needs of `item` as its rank sees them, with their reasons. They are sorted, to be compared as a set.
  void findNeeds(const auto &stage, std::uint32_t rank, std::uint32_t item, std::vector<std::uint64_t> &needs) const {
    needs.clear();
    stage.eachNeed(item, [&](std::uint32_t on, std::uint64_t why) {
      const std::uint64_t seen = numbering_.between(rank, stage.rankOf(on));
      needs.push_back((std::uint64_t{positions_[on]} * ranks_ + seen) * 16 + why);
    });
    if (needs.size() > 1)
      std::ranges::sort(needs);
  }

  RankDistances numbering_;
  std::uint32_t ranks_;
  bool holds_ = false;
  std::vector<std::uint32_t> positions_; ///< [item]; empty unless symmetry holds
  std::vector<std::uint32_t> items_;     ///< [rank][position]; if symmetry does not hold, [item]
};

} // namespace mscclc::passes
