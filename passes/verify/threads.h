// What single threads of a block do. Thread i does the i-th of what an operation names: it signals, waits on, flushes
// or puts through the i-th channel, acquires or releases the i-th semaphore. Threads go on without each other until a
// nop or barrier, so in a phase two such operations are ordered only where one thread does both.
#pragma once

#include "passes/verify/findings.h"

#include <map>
#include <set>
#include <tuple>

namespace mscclc::passes::proof {

class ThreadRoles {
public:
  /// Reports waits on one counter by several threads of a block in one phase, and operations that name more than a
  /// block has threads, unless `inTurns`: the threads do them all, in turns.
  ThreadRoles(const ProgramIndex &index, bool inTurns, Findings &findings);

  /// True if in some phase of `block` a thread sends (signals, releases, puts through a port) after it has waited: then
  /// what it waited for goes along.
  bool relays(std::uint32_t block) const { return relays_[block]; }

  /// True if in some phase several threads of `block` acquire semaphore `queue`: none knows which release it got.
  bool acquiredTogether(std::uint32_t block, std::uint32_t queue) const {
    return acquiredTogether_.contains({block, queue});
  }

  /// A send among those that several threads make to one counter in one phase: which of them comes first is not fixed.
  struct Turn {
    std::uint32_t number = 0; ///< in the program's order, from 1
    std::uint32_t of = 0;     ///< how many there are; `none`: the phase goes round a loop, and there is no last one
    bool anyRelaxed = false, allRelaxed = true;
    std::vector<std::uint32_t> threads; ///< those that send
  };
  /// The turn of `thread` in operation `op` of `block`; null where the order makes no difference to who waits.
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
