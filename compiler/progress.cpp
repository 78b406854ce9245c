#include "compiler/progress.h"

#include <algorithm>
#include <cstdio>

namespace mscclc::driver {

ProgressBar::ProgressBar(std::string title, bool enabled)
    : title_(std::move(title)), enabled_(enabled), start_(Clock::now()), last_(start_) {}

void ProgressBar::show(double share) {
  constexpr auto silence = std::chrono::seconds(1);
  constexpr auto step = std::chrono::milliseconds(100);
  const auto now = Clock::now();
  if (!enabled_ || now - start_ < silence || now - last_ < step)
    return;
  last_ = now;
  drawn_ = true;
  constexpr int width = 30;
  const int full = static_cast<int>(std::clamp(share, 0.0, 1.0) * width);
  std::string bar(static_cast<std::size_t>(full), '#');
  bar.resize(width, '.');
  std::fprintf(stderr, "\r%s [%s] %3.0f%%", title_.c_str(), bar.c_str(), 100 * share);
  std::fflush(stderr);
}

void ProgressBar::clear() {
  if (drawn_)
    std::fprintf(stderr, "\r\x1b[K");
  drawn_ = false;
}

} // namespace mscclc::driver
