// A progress bar for work that takes longer than a second.
#pragma once

#include <chrono>
#include <string>

namespace mscclc::driver {

/// Draws a progress bar on one line of standard error, and clears the line at the end.
class ProgressBar {
public:
  /// `enabled`: false if standard error is not a terminal, or if the user wants no progress bar.
  ProgressBar(std::string title, bool enabled);
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar &) = delete;
  ProgressBar &operator=(const ProgressBar &) = delete;

  /// Shows that `share` of the work is done, a number from 0 to 1. Draws nothing in the first second.
  void show(double share);
  void clear();

private:
  using Clock = std::chrono::steady_clock;
  std::string title_;
  bool enabled_, drawn_ = false;
  Clock::time_point start_, last_;
};

} // namespace mscclc::driver
