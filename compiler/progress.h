// A progress bar for what takes longer than a second.
#pragma once

#include <chrono>
#include <string>

namespace mscclc::driver {

/// Draws on standard error, on one line that it clears again.
class ProgressBar {
public:
  /// `enabled`: standard error is a terminal and the user wants to see it.
  ProgressBar(std::string title, bool enabled);
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar &) = delete;
  ProgressBar &operator=(const ProgressBar &) = delete;

  /// `share` done, 0 to 1. Nothing is drawn in the first second.
  void show(double share);
  void clear();

private:
  using Clock = std::chrono::steady_clock;
  std::string title_;
  bool enabled_, drawn_ = false;
  Clock::time_point start_, last_;
};

} // namespace mscclc::driver
