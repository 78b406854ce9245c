// Which sync of a recorded program its pairs of accesses need.
#pragma once

#include "passes/run/recorded_order.h"

#include <array>
#include <deque>
#include <functional>
#include <optional>

namespace mscclc::passes::prune {

/// Drops orbit after orbit as long as all pairs stay in order. Each pair keeps the pieces by which it is in order, so
/// only those that go by a dropped one are asked again.
///
/// Lemma. One trial costs at most one walk over the run for each block whose accesses come second (recorded_order.h),
/// however many pairs there are. For pairs are asked block after block, and those of a block in the order of time.
class NeededSync {
public:
  /// Of all sizes of a program. Pairs that are not in order with `dropped` as it is count no more. `everyRank`: else,
  /// only accesses of the first rank are asked what comes before them, if all ranks are alike: records need have no
  /// others. Ranks that look alike may differ in what they name: then that is not enough.
  NeededSync(const std::vector<RunRecord> &records, const SyncOrbits &orbits, std::vector<bool> dropped,
             bool everyRank);

  /// Drops `orbits` if no pair needs any of them; `excuse`: pairs that packets may order are not asked.
  bool drop(std::span<const std::vector<Piece> *const> orbits, bool excuse);
  /// False if `orbit` is dropped, or if `excuse` makes no difference: each pair that may stand in its way is asked.
  bool mayExcuse(const std::vector<Piece> &orbit) const;

  /// Two accesses in no order.
  struct Unordered {
    Pair pair;
    std::uint32_t record = 0;
    std::uint32_t scratch = none; ///< the rank in whose scratch they meet if the second launch has another size
  };
  /// Calls `visit` with pairs that are in no order without `pieces`, which are one orbit or several, until it returns
  /// true. `before`: which pairs come first. Drops nothing.
  void visitUnordered(const std::vector<Piece> &pieces,
                      const std::function<bool(const Unordered &, const Unordered &)> &before,
                      const std::function<bool(const Unordered &)> &visit);

private:
  struct Need {
    Pair pair;
    std::uint32_t record = 0;
    std::uint32_t scratch = none; ///< the rank to whose scratch it belongs: see ScratchUse
    bool ends = false;            ///< of these, that one of `uses` comes before the end of the launch
    bool counts = true;
    std::uint32_t wait = none; ///< instead of a pair: that this wait takes its turn
  };
  /// What a trial has found, to be taken over if it succeeds.
  struct Trial {
    std::vector<std::pair<std::uint32_t, std::vector<Piece>>> moved; ///< need, and by what it is in order now
    std::vector<std::uint32_t> excused;
    std::vector<Need> instead; ///< of scratch: what has to hold where a need does not
    std::vector<std::pair<Need, std::vector<Piece>>> added;
  };

  /// Where a use of scratch stands in its rank: block, phase, operation, whether it writes.
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
  void use(std::uint32_t need, const std::vector<Piece> &pieces);
  bool check(std::uint32_t number, bool excuse, Trial &trial);
  bool checkInstead(Trial &trial);
  void appendInstead(const Need &need, std::vector<Need> &needs);
  void appendMeetings(const Need &need, std::vector<Need> &needs);
  static void dropDoubles(std::vector<Need> &needs);
  std::vector<std::uint32_t> orderToAsk(std::span<const Need> needs) const;
  std::vector<std::uint32_t> usersOf(const std::vector<Piece> &pieces) const;
  std::vector<std::uint32_t> unorderedOf(const std::vector<std::uint32_t> &numbers);
  std::optional<std::vector<Piece>> ask(const Need &need);
  std::optional<std::vector<Piece>> askTurn(const Need &need) const;
  void set(std::span<const std::vector<Piece> *const> orbits, bool dropped);

  const std::vector<RunRecord> &records_;
  const SyncOrbits &orbits_;
  const bool ofFirstRank_;
  std::vector<bool> dropped_;          ///< [piece]
  std::deque<RecordedOrder> searches_; ///< [record]
  std::vector<Need> needs_;
  std::vector<std::vector<std::uint32_t>> usedBy_;    ///< [orbit]: needs, some that use it no more
  std::vector<std::vector<ScratchMeeting>> meetings_; ///< [record], by place; once one is asked for
};

} // namespace mscclc::passes::prune
