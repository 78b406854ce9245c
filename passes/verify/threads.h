// The roles of single threads of a block. Thread i does the i-th part of an operation: it signals, waits on, flushes or
// puts through the i-th channel, or acquires or releases the i-th semaphore. Threads do not wait for each other until a
// nop or barrier. So within a phase, two such operations are ordered only if one thread does both.
#pragma once

#include "passes/verify/findings.h"

#include <map>
#include <set>
#include <tuple>

namespace mscclc::passes::proof {

/// The roles of the threads of all blocks.
class ThreadRoles {
public:
  /// Finds the roles. Reports waits on one counter by several threads of a block in one phase. Also reports operations
  /// with more parts than a block has threads. With `inTurns`, such operations are allowed: the threads do all parts,
  /// in turn.
  ThreadRoles(const ProgramIndex &index, bool inTurns, Findings &findings);

  /// True if, in some phase of `block`, a thread waits and then sends (signals, releases, puts through a port). Then
  /// its send also carries the contents of the wait.
  bool relays(std::uint32_t block) const { return relays_[block]; }

  /// True if in some phase several threads of `block` acquire semaphore `queue`. Then it is unknown which thread got
  /// which release.
  bool acquiredTogether(std::uint32_t block, std::uint32_t queue) const {
    return acquiredTogether_.contains({block, queue});
  }

  /// One of the sends that several threads make to one counter in one phase. Their order is not fixed.
  struct Turn {
    std::uint32_t number = 0; ///< number of this send in the program's order, from 1 on
    std::uint32_t of = 0;     ///< number of these sends; `none` if the phase spans a loop, so no send is the last
    bool anyRelaxed = false, allRelaxed = true;
    std::vector<std::uint32_t> threads; ///< the threads that send
  };
  /// Returns the turn of `thread` in operation `op` of `block`; null if the order makes no difference to the receiver.
  const Turn *turn(std::uint32_t block, std::uint32_t op, std::uint32_t thread) const {
    if (turns_.empty())
      return nullptr;
    const auto it = turns_.find({block, op, thread});
    return it == turns_.end() ? nullptr : &it->second;
  }

private:
  friend class ThreadScan;
  std::vector<bool> relays_; ///< [block]
  std::set<std::pair<std::uint32_t, std::uint32_t>> acquiredTogether_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Turn> turns_;
};

} // namespace mscclc::passes::proof
