// The phases of a recorded run without some of the sync.
#pragma once

#include "passes/run/run_record.h"

#include <vector>

namespace mscclc::passes::prune {

/// A phase that begins with a dropped point is one with the phase before it.
class RecordedPhases {
public:
  /// `dropped` [point]: true if the point is dropped. After each change, `update` must be called.
  RecordedPhases(const RunRecord &record, const std::vector<bool> &dropped);
  /// Must be called when `dropped` has changed for some of `points`.
  void update(const std::vector<SyncPoint> &points);

  /// True if `point` is dropped; false for `none`.
  bool isDropped(SyncPoint point) const { return point != none && dropped_[point]; }
  /// Returns the first phase that is merged with the phase of `at`.
  std::uint32_t beginOf(const Moment &at) const { return begins_[at.block][at.phase].now; }
  /// True if `phase` is over before phase `last` of the block begins.
  bool parted(std::uint32_t block, std::uint32_t phase, std::uint32_t last) const {
    return begins_[block][last].now > phase;
  }
  /// Returns the time of the last event for which `block` waited before `phase`, with nothing dropped; 0 if there is
  /// none.
  std::uint32_t lastHeardAt(std::uint32_t block, std::uint32_t phase) const { return begins_[block][phase].lastHeard; }
  /// Returns the number of launches that the block's rank has begun when `phase` begins.
  std::uint32_t launchesBegun(std::uint32_t block, std::uint32_t phase) const { return begins_[block][phase].launches; }
  /// Returns a point that separates `phase` from phase `last` of the block; `none` if something that is never dropped
  /// separates them.
  SyncPoint boundAfter(std::uint32_t block, std::uint32_t phase, std::uint32_t last) const;
  /// Returns the time before which no block can know that `access` is over; `none` if no block ever does.
  std::uint32_t overAt(const Access &access) const;

private:
  void noteLastHeard(std::uint32_t block);
  void update(std::uint32_t block, std::uint32_t phase);

  const RunRecord &record_;
  const std::vector<bool> &dropped_;
  /// The first phase that is merged with this one. `now`: with the points that are dropped at present; `always`: if all
  /// points were dropped.
  struct Begin {
    std::uint32_t now = 0, always = 0;
    std::uint32_t launches = 0; ///< number of launches that have begun
    std::uint32_t lastHeard = 0;
  };
  std::vector<std::vector<Begin>> begins_; ///< [block][phase]
  std::vector<std::vector<Moment>> begun_; ///< [point]: phases that begin with it
};

} // namespace mscclc::passes::prune
