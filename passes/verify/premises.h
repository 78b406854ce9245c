// What must hold before one execution can speak for all: counts agree, and who meets whom is fixed by the program.
#pragma once

#include "passes/run/geometry.h"
#include "passes/verify/findings.h"

#include <map>

namespace mscclc::passes::proof {

/// A channel end or semaphore that several blocks signal, or several wait on.
struct SharedSync {
  struct Party {
    std::uint32_t block;
    std::uint64_t count; ///< signals or waits a launch
  };
  std::vector<Party> signallers, waiters;
};

class Premises {
public:
  /// Counts and reports.
  Premises(const ProgramIndex &index, const Geometry &geometry, Findings &findings);

  /// False if counts or participants are such that a run makes no sense.
  bool hold() const { return hold_; }
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
