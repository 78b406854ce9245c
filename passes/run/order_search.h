// Finds knowledge that came by way of other blocks. Logs are searched step by step, and results are kept.
//
// For each combination of asking block, launch and relation, there is one search through the graph of Logs. It begins
// with the block's own log, and stops when it has the answer. The next question first looks at the earlier results, and
// then continues from there. The knowledge of a block only grows, so results remain valid. If a message came from a
// block that has a search itself, the results of that search are added, as in a join of vector clocks.
//
// The latest messages are followed first, because they contain the most. Example: packets circulate around a ring of n
// ranks. From the last packet, all ranks are reached within n steps.
//
// Before a launch, all blocks of a rank meet and share their knowledge. So for events of earlier launches there is one
// more search for each rank, which is asked first.
//
// Lemma. A search follows each edge of its launch once, for any number of questions. The reason is that it stores the
// length of the part of a log that was read, continues only from there, and visits a node once. Adding results of
// another search costs as much as a join of vector clocks, at most once for each edge to the asking block. So all
// questions of one block together take linear time in the edges, and all questions of all blocks cost no more than
// vector clocks. A block that never asks, or that gets its answers directly, costs nothing. Results take at most 8
// bytes for each known block, and equal ones are shared. If they exceed `mostBytes`, all searches are forgotten, and
// begin again at the next question.
#pragma once

#include "passes/run/logs.h"

#include <array>
#include <memory>
#include <unordered_map>

namespace mscclc::passes::proof {

/// The searches of all blocks.
class OrderSearch {
public:
  OrderSearch(const ProgramIndex &index, const Logs &logs) : index_(index), logs_(logs) {}

  /// The most bytes that searches may keep.
  static constexpr std::uint64_t mostBytes = std::uint64_t{256} << 20;

  /// True if the view knows that `phase` of another block is over, or sees its writes.
  bool known(std::uint32_t block, std::uint32_t phase, const View &view, Relation relation);
  /// True if all blocks of `rank` have known this since their meeting before the current launch. Returns false if they
  /// know it only from later messages.
  bool knownAtBegin(std::uint32_t block, std::uint32_t phase, std::uint32_t rank, Relation relation);

private:
  /// The results about a block.
  struct Reach {
    std::uint32_t length = 0; ///< length of its log that was read or will be read
    std::uint32_t phase = 0;  ///< phases before this one are known
  };
  static constexpr std::uint32_t pageSize = 64;
  using Page = std::array<Reach, pageSize>;
  /// A part of a log, or a node, that is still to be read.
  struct Unread {
    std::uint32_t agent, from, to;
  };
  struct Search {
    std::uint32_t launch = 0;   ///< number of launches that had begun at the event in question
    std::uint32_t block = none; ///< the asking block; `none` if its whole rank asks
    std::uint32_t rank = 0;     ///< the rank that asks
    std::uint32_t own = 0;      ///< number of entries of the block's own log that were read or will be read
    Relation relation = Relation::HappensBefore;
    const Search *below = nullptr; ///< another search; its results count here, too
    std::uint64_t bytes = 0;       ///< its size
    std::vector<std::shared_ptr<Page>> pages;
    std::vector<bool> nodes;       ///< [node]: visited
    std::vector<bool> laterRanks;  ///< [rank]: known to have begun a later launch, with all its blocks
    std::vector<Unread> near, far; ///< unread parts within the rank, which are read first; and those outside
  };
  Search begin(std::uint32_t block, std::uint32_t rank, std::uint32_t launch, Relation relation) const;
  /// `asks`: the block that asks; if a whole rank asks, the number of blocks plus the rank.
  Search &searchOf(std::uint32_t asks, std::uint32_t launch, Relation relation);
  void keepWithin();
  static std::uint64_t key(std::uint32_t asks, std::uint32_t launch, Relation relation) {
    return std::uint64_t{asks} << 32 | std::uint64_t{launch} << 2 | static_cast<std::uint64_t>(relation);
  }
  Search &withBesides(const View &view, const Search &below);
  Reach &reachOf(Search &search, std::uint32_t block);
  void open(Search &search, std::uint32_t agent, std::uint32_t length);
  /// `direct`: the asking block received the message itself.
  void look(Search &search, const MessageClock &clock, bool direct);
  void takeOver(Search &search, const MessageClock &clock);
  bool tells(const Search &search, std::uint32_t block, std::uint32_t phase) const;
  bool find(Search &search, std::uint32_t block, std::uint32_t phase);

  const ProgramIndex &index_;
  const Logs &logs_;
  std::unordered_map<std::uint64_t, Search> searches_; // by block or rank, launch and relation
  Search besides_;                                     // extends one of searches_
  View besidesView_;                                   // the view for which besides_ was made
  std::vector<MessageClock> besidesClocks_;
  std::vector<std::uint32_t> entries_; ///< entries of the log that is being read
  std::uint64_t bytes_ = 0;            ///< size of searches_ in bytes
};

} // namespace mscclc::passes::proof
