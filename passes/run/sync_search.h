// Whether two accesses of a recorded run are in order with some of the sync dropped, and by which pieces.
#pragma once

#include "passes/run/sync_walk.h"

#include <array>
#include <optional>

namespace mscclc::passes::prune {

/// Keeps what one block is known to come after, as long as nothing else is dropped. So questions about second accesses
/// of one block are best asked one after the other, in the order of time: together they cost one walk (sync_walk.h).
class SyncSearch {
public:
  /// `dropped`: by piece; may change between questions, if `update` is told.
  SyncSearch(const SyncRecord &record, const std::vector<bool> &dropped);
  SyncSearch(const SyncSearch &) = delete;
  SyncSearch &operator=(const SyncSearch &) = delete;

  /// What is dropped of `pieces` has changed.
  void update(const std::vector<Piece> &pieces);

  /// True if `pair` is in order; `pieces` gets those by which it is.
  bool ordered(const Pair &pair, std::vector<Piece> &pieces);
  const SyncPhases &phases() const { return phases_; }

private:
  /// A walk from what all of a block knows in its phase.
  struct FromBlock {
    SyncWalk walk;
    Moment from{none, 0};             ///< the last phase that it began at
    const SyncWalk *launch = nullptr; ///< below it
  };
  /// A walk from what all blocks of a rank know when they begin a launch.
  struct FromLaunch {
    SyncWalk walk;
    std::uint32_t rank = none;
  };

  SyncWalk *atLaunch(std::uint32_t block, std::uint32_t launch, bool visible);

  const SyncRecord &record_;
  SyncPhases phases_;
  std::array<std::vector<std::optional<FromLaunch>>, 2> fromLaunch_; ///< [visible][launches begun]
  std::array<FromBlock, 2> fromBlock_;                               ///< [visible]
  SyncWalk fromAccess_;                                              ///< from what the second access knows besides
};

} // namespace mscclc::passes::prune
