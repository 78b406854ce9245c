// A program run again for control alone, to tell the story of a finding: who had to run before whom.
#pragma once

#include "passes/verify/machine.h"

#include <algorithm>

namespace mscclc::passes::proof {

/// Instances are a block's operations as they run, launch after launch, iterations counted.
class Replay {
public:
  static constexpr std::uint64_t mostInstances = 20'000'000;

  Replay(const ProgramIndex &index, const Geometry &geometry, const Memory &memory);

  /// Lets waits on this queue never pass, to see what comes without them.
  void hold(std::uint32_t queue) { held_[queue] = true; }
  /// Runs `launches`, or as far as it goes. False if it stops early.
  bool run(std::uint32_t launches);
  /// Signals that `queue` got.
  std::uint64_t sent(std::uint32_t queue) const { return numSent_[queue]; }

  struct Step {
    std::uint32_t block, from, to; ///< instances [from, to)
  };
  /// Instance of `op` in `phase` of `block`, or the end of `launch` if `op` is none.
  std::uint32_t find(std::uint32_t block, std::uint32_t phase, std::uint32_t op, std::uint32_t launch) const;
  std::uint32_t opOf(std::uint32_t block, std::uint32_t instance) const { return traces_[block].ops[instance]; }
  /// Launch (from 0) of an instance.
  std::uint32_t launchOf(std::uint32_t block, std::uint32_t instance) const {
    const auto &ends = traces_[block].ends;
    return static_cast<std::uint32_t>(std::upper_bound(ends.begin(), ends.end(), instance) - ends.begin());
  }
  std::uint32_t endOfLaunch(std::uint32_t block, std::uint32_t launch) const { return traces_[block].ends[launch]; }

  /// Instances of each block that must run, and what they need with them.
  struct Wanted {
    std::vector<std::uint32_t> counts; ///< [block]
    std::vector<bool> met;             ///< [meeting]: its members are in `counts`
  };
  Wanted nothingWanted() const {
    return {std::vector<std::uint32_t>(traces_.size()), std::vector<bool>(members_.size())};
  }
  /// Adds the fewest instances of each block that must have run before `count` of `block` can.
  void need(std::uint32_t block, std::uint32_t count, Wanted &wanted) const;
  /// An order in which blocks get from `done` to `wanted`, in few turns; `done` moves along. Requires: `run` was true.
  std::vector<Step> schedule(std::vector<std::uint32_t> &done, const Wanted &wanted) const;

private:
  /// `instance` needs `before` instances of `block`. With `block` none, it needs those of all other members of meeting
  /// `before`. A meeting is a round of a barrier, or the begin of a rank's launch: pairs of members would be too many.
  struct Dependency {
    std::uint32_t instance = 0, block = 0, before = 0;
    bool isMeeting() const { return block == none; }
  };
  struct Trace {
    std::vector<std::uint32_t> ops, phases, ends;
    std::vector<Dependency> needs;
  };
  struct Sent {
    std::uint32_t block = none, count = 0; ///< nobody: a semaphore's starting value
  };
  struct Round { ///< of a barrier: the last in which all met
    std::uint64_t number = ~std::uint64_t{0};
    std::uint32_t meeting = none;
  };
  struct State {
    ir::BlockCursor at;
    std::uint32_t step = 0; ///< ids of a wait that are done
    std::uint32_t phase = 0;
    std::optional<std::uint64_t> ticket; ///< of the barrier where the block waits
  };
  void beginLaunch();
  bool advance(std::uint32_t block);
  bool meet(std::uint32_t block, std::uint32_t barrier);
  bool tryOp(std::uint32_t block, const ir::Op &op);
  bool take(std::uint32_t block, std::uint32_t queue);
  bool packets(std::uint32_t block, const ir::Op &op, bool write);

  const ProgramIndex &index_;
  const Geometry &geometry_;
  const Memory &memory_;
  std::vector<bool> held_; ///< [queue]
  std::uint32_t launch_ = 0;
  std::vector<State> states_;
  std::vector<Trace> traces_;
  ir::CreditQueues<Sent> queues_;
  std::vector<std::uint64_t> numSent_; ///< [queue]
  ir::BarrierArrivals<Sent> arrivals_;
  std::vector<Round> rounds_;              ///< [barrier]
  std::vector<std::vector<Sent>> members_; ///< [meeting]: how many instances each has run when it comes
  std::unordered_map<CellId, Sent> slots_;
  std::uint64_t instances_ = 0;
};

} // namespace mscclc::passes::proof
