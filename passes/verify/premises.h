// What must hold before one execution can speak for all: counts agree, and who meets whom is fixed by the program.
#pragma once

#include "passes/verify/findings.h"
#include "passes/verify/geometry.h"

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

struct BarrierInfo {
  std::uint32_t rank = 0;
  std::uint64_t id = 0;
  std::vector<std::uint32_t> blocks;
};

class Premises {
public:
  /// Counts and reports. Queue numbers: channel ends that wait, then semaphores.
  Premises(const ProgramIndex &index, const Geometry &geometry, Findings &findings);

  /// False if counts or participants are such that a run makes no sense.
  bool hold() const { return hold_; }
  const SharedSync *shared(std::uint32_t queue) const {
    const auto it = shared_.find(queue);
    return it == shared_.end() ? nullptr : &it->second;
  }
  const std::map<std::uint32_t, SharedSync> &allShared() const { return shared_; }
  const std::vector<BarrierInfo> &barriers() const { return barriers_; }
  std::uint32_t barrier(std::uint32_t rank, std::uint64_t id) const { return barrierNumber_.at({rank, id}); }

private:
  friend class PremiseScan;
  bool hold_ = true;
  std::map<std::uint32_t, SharedSync> shared_;
  std::vector<BarrierInfo> barriers_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> barrierNumber_;
};

} // namespace mscclc::passes::proof
