// What --time-passes shows.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace mscclc::driver {

/// Stages and their wall time, in the order in which they ran.
class StageTimes {
public:
  StageTimes();
  void add(std::string stage, double milliseconds);
  /// Adds the time since the last call of mark(), add() or lap(), but for `elsewhere`: milliseconds of it that are
  /// added as stages of their own.
  void lap(std::string stage, double elsewhere = 0);
  void mark();
  /// A table of stages, their total and peak memory. `recorded`: operations as the input gave them.
  std::string render(std::uint64_t recorded) const;

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_, last_;
  std::vector<std::pair<std::string, double>> stages_;
};

} // namespace mscclc::driver
