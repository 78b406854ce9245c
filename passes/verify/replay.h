// A program run again for control alone, to tell the story of a finding: who had to run before whom.
#pragma once

#include "passes/run/data_run.h"

#include <algorithm>

namespace mscclc::passes::proof {

/// Instances are a block's operations as they run, launch after launch, iterations counted.
class Replay : private ControlEvents, private DataEvents {
public:
  static constexpr std::uint64_t mostInstances = 20'000'000;

  Replay(const ProgramIndex &index, const Geometry &geometry, const Memory &memory);

  /// Lets waits on this queue never pass, to see what comes without them.
  void hold(std::uint32_t queue) { control_.hold(queue); }
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
    std::uint32_t block = none, count = 0;
  };
  // Control.
  void endsPhase(std::uint32_t block) override { ++phases_[block]; }
  void meet(std::span<const std::uint32_t> blocks) override;
  void meetRank(std::uint32_t rank) override;
  std::uint32_t gives(std::uint32_t block, const ir::Op &op, std::uint32_t thread, std::uint32_t queue) override;
  void takes(std::uint32_t block, const ir::Op &op, std::uint32_t thread, std::uint32_t queue,
             std::uint32_t message) override;
  bool data(std::uint32_t block, const ir::Op &op) override { return data_.run(block, op); }
  void done(std::uint32_t block) override;
  void launchBegins() override;
  // Data: packets alone.
  bool begins(const DataStep &step) override;
  void reads(const DataStep & /*step*/, const Operand & /*source*/) override {}
  void writes(const DataStep &step, const Operand &part, std::uint32_t unit,
              std::span<const std::uint32_t> taken) override;
  void puts(const DataStep &step, std::uint32_t thread, std::uint32_t channel, const Operand &source,
            const Operand &destination) override;

  std::uint32_t here(std::uint32_t block) const { return static_cast<std::uint32_t>(traces_[block].ops.size()); }
  std::uint32_t send(std::uint32_t block);

  const ProgramIndex &index_;
  Control control_;
  DataRun data_;
  std::vector<std::uint32_t> phases_; ///< [block]
  std::vector<Trace> traces_;
  std::vector<Sent> messages_;
  std::vector<std::uint64_t> numSent_;     ///< [queue]
  std::vector<std::vector<Sent>> members_; ///< [meeting]: how many instances each has run when it comes
  std::uint64_t instances_ = 0;
};

} // namespace mscclc::passes::proof
