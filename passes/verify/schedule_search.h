// The shortest schedule that shows two accesses which nothing orders.
#pragma once

#include "passes/verify/checked_run.h"
#include "passes/verify/replay.h"

namespace mscclc::passes::proof {

/// Blocks of one number, on several ranks, that run one after the other up to the same operation.
struct Turn {
  std::vector<std::uint32_t> blocks;
  std::uint32_t op = 0, launch = 0;
  std::uint32_t times = 1; ///< in a loop
};

/// What runs before the second access happens, and what before the first one happens only then.
struct Schedule {
  std::vector<Turn> beforeSecond, beforeFirst;
};

/// Finds them in one replay of the program.
///
/// All that the second access needs is run, and no more: so the first, which is not ordered before it, has not happened
/// unless something needed comes after it in its own block. Then what the first needs is run, and it comes too late.
class ScheduleSearch {
public:
  ScheduleSearch(const ProgramIndex &index, const Geometry &geometry, const Memory &memory, const Order &order)
      : index_(index), order_(order), replay_(index, geometry, memory) {}

  /// False if the program does not run so far.
  bool run(std::uint32_t launches) { return replay_.run(launches); }
  /// Of two accesses in these launches.
  Schedule find(const Conflict &conflict, std::uint32_t firstLaunch, std::uint32_t secondLaunch);

private:
  /// Blocks go on until `epoch` is next.
  std::vector<Turn> reach(const Conflict &conflict, const Epoch &epoch, std::uint32_t op, std::uint32_t launch);
  std::vector<Turn> turnsOf(const std::vector<Replay::Step> &steps) const;
  std::uint32_t instanceOf(const Epoch &epoch, std::uint32_t op, std::uint32_t launch) const {
    return replay_.find(order_.blockOf(epoch), epoch.phase, op, launch);
  }

  const ProgramIndex &index_;
  const Order &order_;
  Replay replay_;
  std::vector<std::uint32_t> done_; ///< [block]: instances
  Replay::Wanted wanted_;
};

} // namespace mscclc::passes::proof
