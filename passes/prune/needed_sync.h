// Finds which sync of a recorded program is needed to order its pairs of accesses.
#pragma once

#include "passes/run/recorded_order.h"

#include <array>
#include <deque>
#include <functional>
#include <optional>

namespace mscclc::passes::prune {

/// Drops classes of sync points, one after another, as long as all pairs of accesses stay ordered. For each pair, it
/// stores the points that order the pair. After a class is dropped, only pairs that use one of its points are checked
/// again. Example: A signals B through two channels, and the signal of the first channel orders a pair. If the second
/// channel is dropped, no pair is checked. If the first channel is dropped, the pair is checked again, and the second
/// channel orders it, unless it was dropped before.
///
/// Lemma. One trial needs at most one walk over the run for each block that makes second accesses of pairs
/// (recorded_order.h), however many pairs there are. The reason is that pairs are checked block after block, and the
/// pairs of a block in the order of time.
class NeededSync {
public:
  /// `records`: a record for each size of the program. `dropped`: the points that are dropped from the beginning; pairs
  /// that have no order without these points are ignored. `everyRank`: checks the accesses of all ranks. If it is false
  /// and all ranks have the same shape, only accesses of the first rank are checked, and records need no others. It
  /// must be true if ranks of the same shape name different chunks or channels.
  NeededSync(const std::vector<RunRecord> &records, const SyncClasses &classes, std::vector<bool> dropped,
             bool everyRank);

  /// Drops `classes` if all pairs stay ordered without them. Returns false, and drops nothing, if some pair does not.
  /// With `excuse`, pairs that packets may order (Pair::excusable) need no other order.
  bool drop(std::span<const std::vector<SyncPoint> *const> classes, bool excuse);
  /// Returns true if `excuse` may help to drop `syncClass`: the class is not dropped yet, and packets may order a pair
  /// that uses it.
  bool mayExcuse(const std::vector<SyncPoint> &syncClass) const;

  /// A pair of accesses that has no order.
  struct Unordered {
    Pair pair;
    std::uint32_t record = 0;
    std::uint32_t scratch = none; ///< the rank in whose scratch the pair conflicts at another message size
  };
  /// Calls `visit` for the pairs that have no order without `points`, until it returns true. `points` must contain
  /// whole classes. `before` compares two pairs; pairs are visited in about this order. Drops nothing.
  void visitUnordered(const std::vector<SyncPoint> &points,
                      const std::function<bool(const Unordered &, const Unordered &)> &before,
                      const std::function<bool(const Unordered &)> &visit);

private:
  struct Need {
    Pair pair;
    std::uint32_t record = 0;
    std::uint32_t scratch = none; ///< for a need about scratch (ScratchUse): the rank that owns the scratch
    bool ends = false;            ///< for scratch: the use must complete before its launch ends
    bool counts = true;
    std::uint32_t wait = none; ///< not a pair: this wait must not be concurrent with the previous wait on its channel
  };
  /// The changes that follow from a trial. They are applied if the trial succeeds.
  struct Trial {
    std::vector<std::pair<std::uint32_t, std::vector<SyncPoint>>> moved; ///< needs with the points that order them now
    std::vector<std::uint32_t> excused;
    std::vector<Need> instead; ///< needs that replace needs about scratch which do not hold
    std::vector<std::pair<Need, std::vector<SyncPoint>>> added;
  };

  /// The position of a use of scratch: its block within its rank, its phase, its operation, and the relation of its
  /// pair.
  using Position = std::array<std::uint32_t, 4>;
  /// A use of scratch, and a later write by rank 0 to the same scratch.
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
  std::vector<std::vector<std::uint32_t>> usedBy_;    ///< [class]: needs that use the class now, or did before
  std::vector<std::vector<ScratchMeeting>> meetings_; ///< [record], sorted by position; filled when first needed
};

} // namespace mscclc::passes::prune
