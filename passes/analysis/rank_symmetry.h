// Do these ranks do the same? The one answer.
//
// A numbering of ranks (rank_distances.h) gives each rank a number as seen from another one. A rank sees itself as 0,
// and rank 0 sees all by their own numbers. For each rank r, there is one renumbering that takes what rank 0 sees to
// what r sees: image(x, r) is to rank r what x is to rank 0. seenFrom(r, ·) is its inverse.
//
// Symmetry is that of one *stage* of a program: of a list of items, each of which is of one rank. There are
//
//   - the statements that say what moves, once they are placed and in order (schedule/statement_symmetry.h),
//   - the nodes of thread blocks, which are statements and what arrives of ports' puts (schedule/node_symmetry.h).
//
// The operations of thread blocks are another one. They name channels by numbers, so it has a page of its own
// (block_symmetry.h).
//
// A later stage may have less symmetry, because statements that name their block, blocks and channels differ. The
// *position* of an item is its number among those of its rank. Symmetry holds at a stage if
//
//   - all ranks have as many items,
//   - each item is what the item of rank 0 at its position is, with every rank that it names as seen from its own: so
//     image() of an item, which is the one at its position on the image of its rank, is a copy of it,
//   - it needs the images of what that item needs, in whatever order,
//   - and what an item needs of other ranks stands at earlier positions there: so all items by position, then by rank,
//     are a list order as well.
//
// All of it is compared, item by item. Then rank 0 represents all ranks: what is found out about its items holds for
// their images. Else each rank represents itself, and every image is the item itself.
#pragma once

#include "passes/analysis/rank_distances.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace mscclc::passes {

/// Which items of a stage represent others.
class RankSymmetry {
public:
  /// True if rank 0 represents all ranks.
  bool holds() const { return holds_; }
  friend bool operator==(const RankSymmetry &, const RankSymmetry &) = default;

  std::uint32_t representative(std::uint32_t rank) const { return holds_ ? 0 : rank; }
  bool isRepresentative(std::uint32_t rank) const { return representative(rank) == rank; }
  std::uint32_t numRanks() const { return ranks_; }
  std::uint32_t numRepresentatives() const { return holds_ ? 1 : ranks_; }
  /// The number that `other` has for what represents rank `from`.
  std::uint32_t seenFrom(std::uint32_t from, std::uint32_t other) const {
    return holds_ ? numbering_.between(from, other) : other;
  }
  /// The rank that rank `to` sees as rank 0 sees `rank`: seenFrom(to, imageOfRank(rank, to)) is `rank`.
  std::uint32_t imageOfRank(std::uint32_t rank, std::uint32_t to) const { return seenFrom(seenFrom(to, 0), rank); }
  /// The rank to which `rank` is what rank 0 is to itself: imageOfRank(rank, inverseOf(rank)) is its representative.
  std::uint32_t inverseOf(std::uint32_t rank) const { return seenFrom(rank, representative(rank)); }

  /// The items of ranks that represent others or themselves, in their order.
  std::span<const std::uint32_t> representatives() const { return std::span(items_).first(numRepresentativeItems()); }
  /// The number in representatives() of the item that represents `item`.
  std::uint32_t positionOf(std::uint32_t item) const { return holds_ ? positions_[item] : item; }
  std::uint32_t representativeItem(std::uint32_t item) const { return items_[positionOf(item)]; }
  /// Where it holds, the item of `rank` at `position`: the image to `rank` of the one of rank 0.
  std::uint32_t itemAt(std::uint32_t rank, std::uint32_t position) const {
    return items_[rank * (items_.size() / ranks_) + position];
  }

protected:
  /// Each of `items` items represents itself.
  RankSymmetry(const RankDistances &numbering, std::size_t items) : numbering_(numbering), ranks_(numbering.size()) {
    standApart(items);
  }

  void standApart(std::size_t items) {
    holds_ = false;
    positions_ = {};
    items_.resize(items);
    std::iota(items_.begin(), items_.end(), 0);
  }

  /// Finds out whether symmetry holds of `stage`, which has
  ///   - `rankOf(item)`,
  ///   - `isAs(item, first)`: `item` is what `first` is, an item of rank 0, but for what it needs,
  ///   - `eachNeed(item, visit)`: visits what it needs, with a number below 16 that says why.
  void findOut(const auto &stage) {
    const std::size_t items = items_.size();
    holds_ = ranks_ > 1 && findPositions(stage) && compare(stage);
    if (!holds_)
      standApart(items);
  }

private:
  std::size_t numRepresentativeItems() const { return holds_ ? items_.size() / ranks_ : items_.size(); }

  /// False if ranks do not have equally many items.
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

  /// What `item` needs, as its rank sees it, and why; sorted, so that it compares as a set.
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
  std::vector<std::uint32_t> positions_; ///< [item]; empty unless it holds
  std::vector<std::uint32_t> items_;     ///< [rank][position]; where it does not hold, [item]
};

} // namespace mscclc::passes
