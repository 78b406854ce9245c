// Finds the sync of a recorded program that its pairs of accesses need.
#pragma once

#include "passes/run/recorded_order.h"

#include <array>
#include <deque>
#include <functional>
#include <optional>

namespace mscclc::passes::prune {

/// Drops one class after another, as long as all pairs of accesses stay ordered. Each pair remembers the sync points
/// by which it is ordered. So after a class is dropped, only pairs that used one of its points are asked again.
/// Example: A signals B by two channels. A pair is ordered by the first one. Dropping the second channel asks nothing
/// again. Dropping the first one asks the pair again, which is then ordered by the second channel, unless that was
/// dropped.
///
/// Lemma. One trial costs at most one walk over the run for each block whose accesses come second (recorded_order.h),
/// however many pairs there are. For pairs are asked block after block, and those of a block in the order of time.
class NeededSync {
public:
  /// `records`: one for each size of the program. `dropped`: the points that are dropped from the beginning. Pairs that
  /// are unordered without them are ignored. `everyRank`: asks about accesses of all ranks. If it is false and all
  /// ranks have the same shape, only accesses of the first rank are asked, and records need no others. It must be true
  /// if ranks of one shape name different chunks or channels.
  NeededSync(const std::vector<RunRecord> &records, const SyncClasses &classes, std::vector<bool> dropped,
             bool everyRank);

  /// Drops `classes` if no pair needs any of them. With `excuse`, pairs that packets may order are not asked.
  bool drop(std::span<const std::vector<SyncPoint> *const> classes, bool excuse);
  /// Returns true if a drop of `syncClass` with `excuse` may ask fewer pairs. Returns false if the class is already
  /// dropped, or if no pair that uses it may be ordered by packets.
  bool mayExcuse(const std::vector<SyncPoint> &syncClass) const;

  /// Two accesses without an order.
  struct Unordered {
    Pair pair;
    std::uint32_t record = 0;
    std::uint32_t scratch = none; ///< the rank in whose scratch they conflict if the second launch has another size
  };
  /// Calls `visit` with pairs that have no order without `points`, which are one or several whole classes, until it
  /// returns true. `before` gives the order of the pairs. Drops nothing.
  void visitUnordered(const std::vector<SyncPoint> &points,
                      const std::function<bool(const Unordered &, const Unordered &)> &before,
                      const std::function<bool(const Unordered &)> &visit);

private:
  struct Need {
    Pair pair;
    std::uint32_t record = 0;
    std::uint32_t scratch = none; ///< the rank that owns the scratch, if the need is about scratch: see ScratchUse
    bool ends = false;            ///< for scratch: the access of `uses` must come before the end of the launch
    bool counts = true;
    std::uint32_t wait = none; ///< not a pair: this wait must not be concurrent with the wait before it
  };
  /// The results of a trial, which are applied if it succeeds.
  struct Trial {
    std::vector<std::pair<std::uint32_t, std::vector<SyncPoint>>> moved; ///< a need, and the points that order it now
    std::vector<std::uint32_t> excused;
    std::vector<Need> instead; ///< for scratch: the needs that must hold if another need does not
    std::vector<std::pair<Need, std::vector<SyncPoint>>> added;
  };

  /// The position of a use of scratch in its rank: block, phase, operation, and 1 if it writes.
  using Position = std::array<std::uint32_t, 4>;
  /// A use of scratch and a later write of the first rank, accesses which meet there.
  struct ScratchMeeting {
    Position position{};
    std::uint32_t use = 0, write = 0;
    friend auto operator<=>(const ScratchMeeting &, const ScratchMeeting &) = default;
  };

  const Access &firstOf(const Need &need) const { return records_[need.record].accesses[need.pair.first]; }
  const Access &secondOf(const Need &need) const { return records_[need.record].accesses[need.pair.second]; }
  bool isAsked(std::uint32_t record, std::uint32_t block) const {
    return !ofFirstRank_ || records_[record].rankOf[block] == 0;
  }
  std::vector<Need> allNeeds() const;
  void sortByTimeBetween(std::vector<Need> &needs) const;
  void add(std::vector<Need> needs);
  void addWaits();
  void keep(const Need &need, const std::vector<SyncPoint> &points);
  void use(std::uint32_t need, const std::vector<SyncPoint> &points);
  bool check(std::uint32_t number, bool excuse, Trial &trial);
  bool checkInstead(Trial &trial);
  void appendInstead(const Need &need, std::vector<Need> &needs);
  void appendMeetings(const Need &need, std::vector<Need> &needs);
  static void dropDoubles(std::vector<Need> &needs);
  std::vector<std::uint32_t> orderToAsk(std::span<const Need> needs) const;
  std::vector<std::uint32_t> usersOf(const std::vector<SyncPoint> &points) const;
  std::vector<std::uint32_t> unorderedOf(const std::vector<std::uint32_t> &numbers);
  std::optional<std::vector<SyncPoint>> ask(const Need &need);
  std::optional<std::vector<SyncPoint>> askTurn(const Need &need) const;
  void set(std::span<const std::vector<SyncPoint> *const> classes, bool dropped);

  const std::vector<RunRecord> &records_;
  const SyncClasses &classes_;
  const bool ofFirstRank_;
  std::vector<bool> dropped_;          ///< [point]
  std::deque<RecordedOrder> searches_; ///< [record]
  std::vector<Need> needs_;
  std::vector<std::vector<std::uint32_t>> usedBy_;    ///< the needs that use it; some entries are outdated
  std::vector<std::vector<ScratchMeeting>> meetings_; ///< [record], sorted by place; filled at the first query
};

} // namespace mscclc::passes::prune
