// Runs only the control of a program again, to explain a finding: it shows the operations that had to run first.
#pragma once

#include "passes/run/data_run.h"

#include <algorithm>

namespace mscclc::passes::proof {

/// Runs the control of a program, and records its dependencies. An instance is one executed operation of a block. The
/// instances of a block are numbered over all launches and iterations.
class Replay : private ControlEvents, private DataEvents {
public:
  static constexpr std::uint64_t mostInstances = 20'000'000;

  Replay(const ProgramIndex &index, const Geometry &geometry, const Memory &memory);

  /// Lets all waits on `queue` block for ever, to see which operations run without them.
  void hold(std::uint32_t queue) { control_.hold(queue); }
  /// Runs `launches` launches, as far as possible. Returns false if it stops early.
  bool run(std::uint32_t launches);
  /// Returns the number of signals of `queue`, with its initial value.
  std::uint64_t sent(std::uint32_t queue) const { return numSent_[queue]; }

  struct Step {
    std::uint32_t block, from, to; ///< the instances [`from`, `to`) of the block
  };
  /// Returns the instance of `op` in `phase` of `block`. If `op` is `none`, returns the end of `launch`.
  std::uint32_t find(std::uint32_t block, std::uint32_t phase, std::uint32_t op, std::uint32_t launch) const;
  std::uint32_t opOf(std::uint32_t block, std::uint32_t instance) const { return traces_[block].ops[instance]; }
  /// Returns the launch of an instance, from 0 on.
  std::uint32_t launchOf(std::uint32_t block, std::uint32_t instance) const {
    const auto &ends = traces_[block].ends;
    return static_cast<std::uint32_t>(std::upper_bound(ends.begin(), ends.end(), instance) - ends.begin());
  }
  std::uint32_t endOfLaunch(std::uint32_t block, std::uint32_t launch) const { return traces_[block].ends[launch]; }

  /// The number of instances of each block that must run.
  struct Wanted {
    std::vector<std::uint32_t> counts; ///< [block]
    std::vector<bool> met;             ///< [meeting]: true if `counts` contains the instances of its members
  };
  Wanted nothingWanted() const {
    return {std::vector<std::uint32_t>(traces_.size()), std::vector<bool>(members_.size())};
  }
  /// Raises `wanted` as little as possible, so that `block` can run `count` instances.
  void need(std::uint32_t block, std::uint32_t count, Wanted &wanted) const;
  /// Returns an order in which blocks advance from `done` to `wanted`, in few turns. Updates `done`. Requires: run()
  /// returned true.
  std::vector<Step> schedule(std::vector<std::uint32_t> &done, const Wanted &wanted) const;

private:
  /// Instance `instance` of a block requires that `before` instances of `block` have run. If `block` is `none`, all
  /// other members of meeting `before` must have arrived. A meeting is a round of a barrier, or the beginning of a
  /// rank's launch. Separate dependencies for each pair of members would be too many.
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
  // Data operations: only their packets make dependencies.
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
  std::vector<std::vector<Sent>> members_; ///< [meeting]: its members, with the number of their instances at arrival
  std::uint64_t instances_ = 0;
};

} // namespace mscclc::passes::proof
