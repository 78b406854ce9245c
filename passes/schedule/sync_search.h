// Whether two accesses of a recorded run are in order with some of the sync dropped, and by which pieces.
#pragma once

#include "passes/schedule/sync_record.h"

#include <optional>
#include <vector>

namespace mscclc::passes::prune {

/// Goes back from one access to all those that have to come before it, so accesses before one and the same cost one
/// walk together, however many they are.
///
/// Lemma. The walk need not go back beyond the time when the phase of such an access ends: it is known to be over by a
/// later phase of its block, or by a later launch of its rank, which begins no sooner. What was sent before that time
/// tells only of what was before it, too. A port's put is the exception: a wait can show that the put is over while
/// its phase still goes on.
///
/// A phase that begins with a dropped piece is one with the phase before it. What a block sends tells of what was over
/// when the sending phase began, and of what the sending thread itself has waited for; what it receives counts from
/// the next phase on.
class SyncSearch {
public:
  /// `dropped`: by piece; may change between questions, if `update` is told.
  SyncSearch(const SyncRecord &record, const std::vector<bool> &dropped);
  /// What is dropped of `pieces` has changed.
  void update(const std::vector<Piece> &pieces);

  /// True if `pair` is in order; `pieces` gets those by which it is.
  bool ordered(const Pair &pair, std::vector<Piece> &pieces);

  /// Whether one of the pairs is in order, and by which pieces.
  using Answer = std::optional<std::vector<Piece>>;
  /// The same of `pairs`, which have one second access, for each.
  std::vector<Answer> order(std::span<const Pair> pairs);

private:
  /// An access that has to come before the second one.
  struct First {
    const Access *access = nullptr;
    std::uint32_t over = 0;    ///< time before which nobody knows that it is over
    std::uint32_t last = none; ///< the step that found it
  };
  struct Step {
    Moment at; ///< phases of the block before the phase that this one is in are over
    std::uint32_t parent = none;
    Piece pieces[3] = {none, none, none}; ///< by which it is known
    std::uint32_t message = none;         ///< or: this one has been taken
  };
  bool isDropped(std::uint32_t message) const {
    const Piece piece = record_.messages[message].piece;
    return piece != none && dropped_[piece];
  }
  /// The first phase of those that `at` is one with.
  std::uint32_t beginOf(const Moment &at) const { return begins_[at.block][at.phase].now; }
  /// True if `phase` is over before phase `last` of the block begins.
  bool parted(std::uint32_t block, std::uint32_t phase, std::uint32_t last) const {
    return begins_[block][last].now > phase;
  }
  void update(std::uint32_t block, std::uint32_t phase);
  std::uint32_t overAt(const Access &first) const;
  Piece boundAfter(std::uint32_t block, std::uint32_t phase, std::uint32_t last) const;
  void walk(const Access &second, bool visible);
  bool start(const Access &second);
  bool isOver(const Access &first, const Moment &at, std::uint32_t begin) const;
  bool findFirsts(const Moment &at, std::uint32_t begin, std::uint32_t parent, Piece a, Piece b);
  bool toldDirectly(std::uint32_t step, std::uint32_t begin);
  bool explore(std::uint32_t step);
  bool reach(const Moment &at, std::uint32_t parent, Piece a = none, Piece b = none);
  bool meeting(std::uint32_t number, std::uint32_t parent, Piece a = none, Piece b = none);
  bool told(std::uint32_t message, bool weak, std::uint32_t parent, Piece bound);
  bool toldThread(const Moment &at, std::uint32_t thread, std::uint32_t time, std::uint32_t parent);
  bool takenWith(std::uint32_t first, std::uint32_t count, std::uint32_t parent);
  bool found(std::uint32_t first, std::uint32_t parent, Piece a, Piece b, Piece c = none);
  bool flushed(std::uint32_t block, std::uint32_t begin, std::uint32_t parent);

  const SyncRecord &record_;
  const std::vector<bool> &dropped_;
  /// The first of the phases that one is one with: with what is dropped at present, or if all could be.
  struct Begin {
    std::uint32_t now = 0, always = 0;
  };
  std::vector<std::vector<Begin>> begins_;   ///< [block][phase]
  std::vector<std::vector<Moment>> begunBy_; ///< [piece]: phases that begin with it
  // Of the question in progress.
  std::uint32_t question_ = 0;
  std::vector<First> firsts_;                       ///< by the time when they are over
  std::vector<std::vector<std::uint32_t>> unfound_; ///< [rank]: of firsts_
  std::uint32_t numUnfound_ = 0;
  std::uint32_t earliest_ = 0;                        ///< of firsts_: the first that is not found
  const Access *first_ = nullptr, *second_ = nullptr; ///< first_: of firsts_, where it is the only one
  std::uint32_t leastTime_ = 0;                       ///< nothing before it can tell of what is not found
  bool visible_ = false;
  std::vector<Step> steps_;
  struct Reached {
    std::uint32_t question = 0, begin = 0, explored = 0;
  };
  std::vector<Reached> blocks_;         ///< phases before `begin` are over; up to `explored`, all has been looked at
  std::vector<std::uint32_t> meetings_; ///< the last question that came there
  std::vector<std::uint32_t> messages_;
};

} // namespace mscclc::passes::prune
