#include "compiler/timing.h"

#include <algorithm>
#include <cstdio>

#include <sys/resource.h>

namespace mscclc::driver {
namespace {

double milliseconds(std::chrono::steady_clock::duration d) {
  return std::chrono::duration<double, std::milli>(d).count();
}

std::string row(const std::string &name, const char *format, double value, const char *unit) {
  char number[64];
  std::snprintf(number, sizeof number, format, value);
  std::string line = "  " + name;
  line.append(std::max<std::size_t>(2, 34 - std::min<std::size_t>(32, name.size())), ' ');
  return line + number + unit + "\n";
}

} // namespace

StageTimes::StageTimes() : start_(Clock::now()), last_(start_) {}

void StageTimes::add(std::string stage, double ms) {
  stages_.emplace_back(std::move(stage), ms);
  mark();
}

void StageTimes::lap(std::string stage, double elsewhere) {
  add(std::move(stage), milliseconds(Clock::now() - last_) - elsewhere);
}

void StageTimes::mark() {
  last_ = Clock::now();
}

std::string StageTimes::render(std::uint64_t recorded) const {
  std::string out = "time by stage\n";
  for (const auto &[stage, ms] : stages_)
    out += row(stage, "%.2f", ms, " ms");
  out += row("total", "%.2f", milliseconds(Clock::now() - start_), " ms");
  rusage self{}, children{};
  getrusage(RUSAGE_SELF, &self);
  getrusage(RUSAGE_CHILDREN, &children);
  out += row("peak memory", "%.1f", static_cast<double>(std::max(self.ru_maxrss, children.ru_maxrss)) / 1024, " MiB");
  out += row("recorded operations", "%.0f", static_cast<double>(recorded), "");
  return out;
}

} // namespace mscclc::driver
