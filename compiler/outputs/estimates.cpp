#include "compiler/outputs/estimates.h"

#include "compiler/diagnostics.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace mscclc::driver {

namespace time = passes::time;

std::optional<TimedOn> namedMachine(Job &job) {
  TimedOn on;
  on.runner = job.target.executor ? time::Runner::Executor : time::Runner::Kernel;
  try {
    on.machine = time::findMachine(job.options.machine);
  } catch (const time::MachineError &error) {
    job.diags.report(diag::bad_machine, {}, {job.options.machine, error.message});
    return std::nullopt;
  }
  return on;
}

std::optional<TimedOn> timedOn(Job &job) {
  std::optional<TimedOn> on = namedMachine(job);
  if (!on)
    return std::nullopt;
  if (const auto why = time::cannotRun(job.program, on->machine)) {
    job.diags.report(diag::not_on_machine, {}, {on->machine.name, *why});
    return std::nullopt;
  }
  return on;
}

std::vector<std::uint64_t> timedSizes(Job &job) {
  const auto takes = [&](std::uint64_t size) {
    return size != 0 && size >= job.program.minMessageSize && size <= job.program.maxMessageSize;
  };
  std::vector<std::uint64_t> sizes = job.options.runSizes;
  if (sizes.empty()) {
    for (int power = 10; power <= 30; power += 4)
      if (takes(std::uint64_t{1} << power))
        sizes.push_back(std::uint64_t{1} << power);
    if (sizes.empty())
      sizes.push_back(std::max<std::uint64_t>(1, job.program.minMessageSize));
  }
  for (const std::uint64_t size : sizes)
    if (!takes(size)) {
      job.diags.report(diag::size_not_taken, {},
                       {std::to_string(size), std::to_string(std::max<std::uint64_t>(1, job.program.minMessageSize)),
                        std::to_string(job.program.maxMessageSize)});
      return {};
    }
  return sizes;
}

std::optional<TimedLaunch> oneLaunch(Job &job) {
  auto on = timedOn(job);
  if (!on)
    return std::nullopt;
  if (job.options.runSizes.size() > 1) {
    job.diags.report(diag::one_size, {}, {std::string(job.options.output->flag)});
    return std::nullopt;
  }
  const std::vector<std::uint64_t> sizes = timedSizes(job);
  if (sizes.empty())
    return std::nullopt;
  return TimedLaunch{std::move(*on), sizes[sizes.size() / 2]};
}

std::optional<time::Estimate> timeOf(Job &job, const TimedOn &on, std::uint64_t size, bool record) {
  time::Estimate result = time::estimate(job.program, on.machine, on.runner, size, record);
  if (result.complete)
    return result;
  job.diags.report(diag::never_ends, {}, {std::to_string(size)});
  return std::nullopt;
}

std::string_view toString(time::Runner runner) {
  switch (runner) {
  case time::Runner::Executor:
    return "MSCCL++'s executor";
  case time::Runner::Kernel:
    return "a kernel of its own";
  }
  return {};
}

std::string sourceOf(const ir::Program &program, const ir::Op &op) {
  const ir::LocId id = program.sources.firstPlace(op.loc);
  if (id == ir::noLoc)
    return "";
  if (program.sources.isElement(id))
    return program.sources.elementPath(id);
  const ir::Loc &loc = program.sources.get(id);
  return program.sources.files()[loc.file] + ":" + std::to_string(loc.line) + ":" + std::to_string(loc.column);
}

std::string shownBytes(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 4> units{"", "K", "M", "G"};
  std::size_t unit = 0;
  while (unit + 1 < units.size() && bytes != 0 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  return std::to_string(bytes).append(units[unit]);
}

std::string shownTime(time::Time nanoseconds) {
  char text[64];
  const double us = nanoseconds / 1e3;
  std::snprintf(text, sizeof text,
                us < 1e3   ? "%.2f us"
                : us < 1e6 ? "%.3f ms"
                           : "%.3f s",
                us < 1e3   ? us
                : us < 1e6 ? us / 1e3
                           : us / 1e6);
  return text;
}

} // namespace mscclc::driver
