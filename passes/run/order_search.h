// What a block knows through third parties: found in the logs piece by piece, and kept.
//
// For each block that asks, launch and relation there is one search over the graph of Logs. It begins with the block's
// own log and stops as soon as it has the answer; the next question first looks at what was found, then goes on where
// the last one stopped. What a block knows only ever grows, so nothing found is ever wrong later. Where a block was
// told by one that has a search itself, it takes over what was found there, as clocks are joined.
//
// What came last tells most, so it is followed first: packets that go round a ring of n ranks lead back to all of them
// within n steps, from the last one.
//
// What the blocks of a rank knew when they met before a launch, all of them know in it. So for what was done in the
// launches before there is one search for each rank besides, which is asked first.
//
// Lemma. A search follows each edge of its launch once, whatever is asked of it. For the part of a log that was looked
// at is kept as its length, a log is only ever followed from there, and a node is followed once. Taking over costs as
// much as a join of vector clocks, at most once for each edge to the block that asks. So all questions of one block
// together are linear in the edges, all questions of all blocks no dearer than vector clocks; a block that never asks,
// or is told first hand, costs nothing. What was found takes at most 8 bytes for each block heard of, and is shared
// while equal. Beyond `mostBytes` all searches are forgotten, and begin again where somebody asks.
#pragma once

#include "passes/run/logs.h"

#include <array>
#include <memory>
#include <unordered_map>

namespace mscclc::passes::proof {

class OrderSearch {
public:
  OrderSearch(const ProgramIndex &index, const Logs &logs) : index_(index), logs_(logs) {}

  /// Searches may keep so much.
  static constexpr std::uint64_t mostBytes = std::uint64_t{256} << 20;

  /// True if the point knows that `phase` of another block is over, or sees what was written there.
  bool known(std::uint32_t block, std::uint32_t phase, const View &view, Relation relation);
  /// True if all blocks of `rank` know it since the present launch began, from the time when they met before it. False
  /// where they know it otherwise.
  bool knownAtBegin(std::uint32_t block, std::uint32_t phase, std::uint32_t rank, Relation relation);

private:
  /// What was found of a block.
  struct Reach {
    std::uint32_t length = 0; ///< of its log, looked at or about to be
    std::uint32_t phase = 0;  ///< phases before this one are known
  };
  static constexpr std::uint32_t pageSize = 64;
  using Page = std::array<Reach, pageSize>;
  /// A part of a log, or a node, that is still to be looked at.
  struct Open {
    std::uint32_t agent, from, to;
  };
  struct Search {
    std::uint32_t launch = 0;   ///< launches begun when that happened which is asked about
    std::uint32_t block = none; ///< that asks; none if its whole rank does
    std::uint32_t rank = 0;     ///< its own
    std::uint32_t own = 0;      ///< entries of its log, looked at or about to be
    Relation relation = Relation::HappensBefore;
    const Search *below = nullptr; ///< what was found there counts here, too
    std::uint64_t bytes = 0;       ///< that it takes
    std::vector<std::shared_ptr<Page>> pages;
    std::vector<bool> nodes;      ///< looked at
    std::vector<bool> laterRanks; ///< known to have begun a later launch, with all blocks
    std::vector<Open> near, far;  ///< within the rank, which is followed first; and outside
  };
  Search begin(std::uint32_t block, std::uint32_t rank, std::uint32_t launch, Relation relation) const;
  /// `asks`: a block, or the number of blocks plus a rank.
  Search &searchOf(std::uint32_t asks, std::uint32_t launch, Relation relation);
  void keepWithin();
  static std::uint64_t key(std::uint32_t asks, std::uint32_t launch, Relation relation) {
    return (std::uint64_t{asks} << 32 | std::uint64_t{launch} << 1) | (relation == Relation::Visibility);
  }
  Search &withBesides(const View &view, const Search &below);
  Reach &reachOf(Search &search, std::uint32_t block);
  void open(Search &search, std::uint32_t agent, std::uint32_t length);
  /// `direct`: the block that asks was told so itself.
  void look(Search &search, const MessageClock &clock, bool direct);
  void takeOver(Search &search, const MessageClock &clock);
  bool tells(const Search &search, std::uint32_t block, std::uint32_t phase) const;
  bool find(Search &search, std::uint32_t block, std::uint32_t phase);

  const ProgramIndex &index_;
  const Logs &logs_;
  std::unordered_map<std::uint64_t, Search> searches_; // by block or rank, launch and relation
  Search besides_;                                     // on top of one of these
  View besidesView_;                                   // from where it was made
  std::vector<MessageClock> besidesClocks_;
  std::vector<std::uint32_t> entries_; ///< of a log that is looked at
  std::uint64_t bytes_ = 0;            ///< of searches_
};

} // namespace mscclc::passes::proof
