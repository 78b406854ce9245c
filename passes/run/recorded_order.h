// Whether two accesses of a recorded run are in order with some of the sync dropped, and by which points.
#pragma once

#include "passes/run/backward_search.h"

#include <array>
#include <optional>

namespace mscclc::passes::prune {

/// Answers as Order does, with points dropped and restored, and names the path that it used. With nothing dropped, both
/// give one answer to each question.
///
/// Keeps what one block is known to come after, as long as nothing else is dropped. So questions about second accesses
/// of one block are best asked one after the other, in the order of time: together they cost one walk
/// (backward_search.h).
class RecordedOrder {
public:
  /// `dropped`: by point; may change between questions, if `update` is called then.
  RecordedOrder(const RunRecord &record, const std::vector<bool> &dropped);
  RecordedOrder(const RecordedOrder &) = delete;
  RecordedOrder &operator=(const RecordedOrder &) = delete;

  /// Must be called when `dropped` has changed for some of `points`.
  void update(const std::vector<SyncPoint> &points);

  /// True if the accesses of `pair` are in its relation. Adds the points on the path to `points`.
  bool before(const Pair &pair, std::vector<SyncPoint> &points);
  const RecordedPhases &phases() const { return phases_; }

private:
  /// A walk that begins with the knowledge that all threads of a block share in a phase.
  struct FromBlock {
    BackwardSearch walk;
    Moment from{none, 0};                   ///< the last phase at which it began
    const BackwardSearch *launch = nullptr; ///< below it
  };
  /// A walk from what all blocks of a rank know when they begin a launch.
  struct FromLaunch {
    BackwardSearch walk;
    std::uint32_t rank = none;
  };

  BackwardSearch *atLaunch(std::uint32_t block, std::uint32_t launch, Relation relation);

  const RunRecord &record_;
  RecordedPhases phases_;
  std::array<std::vector<std::optional<FromLaunch>>, 3> fromLaunch_; ///< [Relation][launches begun]
  std::array<FromBlock, 3> fromBlock_;                               ///< [Relation]
  BackwardSearch fromAccess_;                                        ///< from what the second access knows besides
};

} // namespace mscclc::passes::prune
