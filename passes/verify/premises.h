// Checks the premises under which one execution represents all executions: counts of signals and waits match, and the
// program determines which operations meet.
#pragma once

#include "passes/run/geometry.h"
#include "passes/verify/findings.h"

#include <map>

namespace mscclc::passes::proof {

/// A channel end or semaphore that several blocks signal, or that several blocks wait on.
struct SharedSync {
  struct Party {
    std::uint32_t block;
    std::uint64_t count; ///< number of signals or waits in a launch
  };
  std::vector<Party> signallers, waiters;
};

/// The checked premises of a program.
class Premises {
public:
  /// Counts signals and waits, and reports mismatches.
  Premises(const ProgramIndex &index, const Geometry &geometry, Findings &findings);

  /// False if a run would have no meaning, because counts do not match or a used channel has no other end.
  bool hold() const { return hold_; }
  /// Returns the blocks that share a queue; null if the queue is not shared.
  const SharedSync *shared(std::uint32_t queue) const {
    const auto it = shared_.find(queue);
    return it == shared_.end() ? nullptr : &it->second;
  }
  const std::map<std::uint32_t, SharedSync> &allShared() const { return shared_; }

private:
  friend class PremiseScan;
  bool hold_ = true;
  std::map<std::uint32_t, SharedSync> shared_;
};

} // namespace mscclc::passes::proof
