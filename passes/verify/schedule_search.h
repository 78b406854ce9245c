// Finds the shortest schedule that shows two accesses without an order.
#pragma once

#include "passes/verify/checked_run.h"
#include "passes/verify/replay.h"

namespace mscclc::passes::proof {

/// Blocks with the same number on several ranks. They run one after the other, up to the same operation.
struct Turn {
  std::vector<std::uint32_t> blocks;
  std::uint32_t op = 0, launch = 0;
  std::uint32_t times = 1; ///< number of repetitions in a loop
};

/// The turns that run before the second access, and then the turns that run before the first access.
struct Schedule {
  std::vector<Turn> beforeSecond, beforeFirst;
};

/// Finds schedules by one replay of the program.
///
/// First it runs exactly what the second access needs. The first access is not ordered before the second one, so
/// normally it has not happened yet. (It has happened if something that was needed comes after it in its own block.)
/// Then it runs what the first access needs, so the first access happens too late.
class ScheduleSearch {
public:
  ScheduleSearch(const ProgramIndex &index, const Geometry &geometry, const Memory &memory, const Order &order)
      : index_(index), order_(order), replay_(index, geometry, memory) {}

  /// Runs `launches` launches. Returns false if the program stops before their end.
  bool run(std::uint32_t launches) { return replay_.run(launches); }
  /// Returns a schedule that shows the two accesses of `conflict`, in these launches.
  Schedule find(const Conflict &conflict, std::uint32_t firstLaunch, std::uint32_t secondLaunch);

private:
  /// Lets blocks run until the access `epoch` comes next. Returns their turns.
  std::vector<Turn> reach(const Conflict &conflict, const Epoch &epoch, std::uint32_t op, std::uint32_t launch);
  std::vector<Turn> turnsOf(const std::vector<Replay::Step> &steps) const;
  std::uint32_t instanceOf(const Epoch &epoch, std::uint32_t op, std::uint32_t launch) const {
    return replay_.find(order_.blockOf(epoch), epoch.phase, op, launch);
  }

  const ProgramIndex &index_;
  const Order &order_;
  Replay replay_;
  std::vector<std::uint32_t> done_; ///< [block]: number of its instances that have run
  Replay::Wanted wanted_;
};

} // namespace mscclc::passes::proof
