// Finds out whether two accesses of a recorded run stay ordered if some of the sync is dropped, and which points order
// them.
#pragma once

#include "passes/run/backward_search.h"

#include <array>
#include <optional>

namespace mscclc::passes::prune {

/// Answers questions as Order does, but points can be dropped and restored. Each answer names the points on the path
/// that it used. With nothing dropped, both classes give the same answers.
///
/// The walk of the last block is kept until other points are dropped. So ask all questions about second accesses of one
/// block one after the other, in the order of time. Together they cost one walk (backward_search.h).
class RecordedOrder {
public:
  /// `dropped` [point]: true if the point is dropped. It may change between questions; each change requires a call of
  /// `update`.
  RecordedOrder(const RunRecord &record, const std::vector<bool> &dropped);
  RecordedOrder(const RecordedOrder &) = delete;
  RecordedOrder &operator=(const RecordedOrder &) = delete;

  /// Must be called when `dropped` has changed for some of `points`.
  void update(const std::vector<SyncPoint> &points);

  /// True if the accesses of `pair` have the relation of the pair. Adds the points on the path to `points`.
  bool before(const Pair &pair, std::vector<SyncPoint> &points);
  const RecordedPhases &phases() const { return phases_; }

private:
  /// A walk that begins with the knowledge of a whole block before a phase.
  struct FromBlock {
    BackwardSearch walk;
    Moment from{none, 0};                   ///< the phase at which the walk last began
    const BackwardSearch *launch = nullptr; ///< the walk of FromLaunch on which this walk builds
  };
  /// A walk that begins with the knowledge of all blocks of a rank at the beginning of a launch.
  struct FromLaunch {
    BackwardSearch walk;
    std::uint32_t rank = none;
  };

  BackwardSearch *atLaunch(std::uint32_t block, std::uint32_t launch, Relation relation);

  const RunRecord &record_;
  RecordedPhases phases_;
  std::array<std::vector<std::optional<FromLaunch>>, 3> fromLaunch_; ///< [Relation][launches begun]
  std::array<FromBlock, 3> fromBlock_;                               ///< [Relation]
  /// Begins with the additional knowledge of the second access.
  BackwardSearch fromAccess_;
};

} // namespace mscclc::passes::prune
