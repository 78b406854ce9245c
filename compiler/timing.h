// The table of --time-passes.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace mscclc::driver {

/// Stages and their wall times, in the order of execution.
class StageTimes {
public:
  StageTimes();
  void add(std::string stage, double milliseconds);
  /// Adds a stage: the time since the last call of mark(), add() or lap(), minus `elsewhere`. `elsewhere`: milliseconds
  /// within this time that are added as separate stages.
  void lap(std::string stage, double elsewhere = 0);
  void mark();
  /// Returns a table of the stages, their total and the peak memory. `recorded`: the number of operations in the input.
  std::string render(std::uint64_t recorded) const;

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_, last_;
  std::vector<std::pair<std::string, double>> stages_;
};

} // namespace mscclc::driver
