#include "compiler/outputs/estimates.h"

#include "compiler/diagnostics.h"
#include "passes/prune/prune_sync.h"
#include "passes/verify/verify.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace mscclc::driver {

namespace time = passes::time;

namespace {

/// Returns advice for a program whose nodes do not fit the machine; empty if there is no advice.
std::string instead(const Job &job, const TimedOn &on) {
  const ir::Program &program = job.program;
  const bool isOneNode = program.schedule == ir::Schedule::Auto && program.movement.ranksPerNode == 0;
  if (isOneNode && program.ranks.size() > on.machine.gpusPerNode)
    return "; its ranks are of one node: name nodes of " + std::to_string(on.machine.gpusPerNode) + " at most by " +
           (job.input.kind == InputKind::Xml ? "--ranks-per-node" : ".ranksPerNode");
  time::Machine machine = on.machine;
  machine.nodes = std::max(machine.nodes, time::RankNodes(program, machine).nodes());
  if (time::cannotRun(program, machine))
    return "";
  const std::string &words = job.options.machine;
  return "; write --machine '" + words.substr(0, words.rfind('*')) + "*" + std::to_string(machine.nodes) + "'";
}

} // namespace

std::optional<TimedOn> namedMachine(Job &job, const std::optional<std::string> &usual) {
  const std::string &words = usual && !job.options.hasMachine ? *usual : job.options.machine;
  TimedOn on;
  on.runner = job.target.executor ? time::Runner::Executor : time::Runner::Kernel;
  try {
    on.machine = time::findMachine(words, time::namedNodes(job.program));
  } catch (const time::MachineError &error) {
    return job.diags.report(diag::bad_machine, {}, {words, error.message});
  }
  return on;
}

std::optional<TimedOn> timedOn(Job &job, const std::optional<std::string> &usual) {
  std::optional<TimedOn> on = namedMachine(job, usual);
  if (!on)
    return std::nullopt;
  return checkRunsOn(job, *on, /*isAsked=*/true) ? std::move(on) : std::nullopt;
}

bool checkRunsOn(Job &job, const TimedOn &on, bool isAsked) {
  const auto why = time::cannotRun(job.program, on.machine);
  if (!why)
    return true;
  const std::string text = *why + instead(job, on);
  if (isAsked)
    job.diags.report(diag::not_on_machine, {}, {on.machine.name, text});
  else
    job.diags.report(diag::not_on_chosen_machine, {}, {on.machine.name, text});
  return !isAsked;
}

std::vector<std::uint64_t> timedSizes(Job &job, std::optional<std::uint64_t> usual) {
  const auto takes = [&](std::uint64_t size) {
    return size != 0 && size >= job.program.minMessageSize && size <= job.program.maxMessageSize;
  };
  std::vector<std::uint64_t> sizes = job.each ? std::vector{job.each->bytes} : job.options.runSizes;
  if (sizes.empty() && !usual && job.options.output->usualSize != 0)
    usual = nearestSize(job.program,
                        job.options.messageSize != 0 ? job.options.messageSize : job.options.output->usualSize);
  if (sizes.empty() && usual)
    sizes.push_back(*usual);
  if (sizes.empty()) {
    for (int power = 10; power <= 30; power += 4)
      if (takes(std::uint64_t{1} << power))
        sizes.push_back(std::uint64_t{1} << power);
    if (sizes.empty())
      sizes.push_back(std::max<std::uint64_t>(1, job.program.minMessageSize));
  }
  for (const std::uint64_t size : sizes)
    if (!takes(size)) {
      const bool isGiven = !job.each || !job.options.runSizes.empty(); // otherwise `size` comes from --message-size
      job.diags.report(isGiven ? diag::size_not_taken : diag::message_size_not_taken, {},
                       {std::to_string(size), std::to_string(std::max<std::uint64_t>(1, job.program.minMessageSize)),
                        std::to_string(job.program.maxMessageSize)});
      return {};
    }
  return sizes;
}

passes::schedule::ChooseOptions chooseOptionsOf(const Job &job, const TimedOn &on, std::uint64_t bytes, bool keeps) {
  return {.machine = on.machine,
          .runner = on.runner,
          .messageBytes = bytes,
          .target = job.passTarget(),
          .level = job.optLevel(),
          .prune = passes::createUnprovenPruneSyncPass(),
          .keeps = keeps};
}

std::uint64_t nearestSize(const ir::Program &program, std::uint64_t bytes) {
  return std::min(std::max<std::uint64_t>({1, bytes, program.minMessageSize}), program.maxMessageSize);
}

std::uint64_t sizeToSchedule(const Job &job) {
  return job.givenSize() != 0 ? job.givenSize() : nearestSize(job.program, usuallyScheduledFor);
}

std::optional<TimedLaunch> oneLaunch(Job &job, time::Detail detail, const time::TracedLaunch &like) {
  auto on = timedOn(job, like.machine);
  if (!on)
    return std::nullopt;
  if (job.options.runSizes.size() > 1)
    return job.diags.report(diag::one_size, {}, {std::string(job.options.output->flag)});
  const std::vector<std::uint64_t> sizes = timedSizes(job, like.bytes);
  if (sizes.empty())
    return std::nullopt;
  std::optional<time::Estimate> estimate = timeOf(job, *on, sizes[0], detail);
  if (!estimate)
    return std::nullopt;
  return TimedLaunch{std::move(*on), sizes[0], std::move(*estimate)};
}

std::optional<time::Estimate> timeOf(Job &job, const TimedOn &on, std::uint64_t size, time::Detail detail) {
  static const passes::RowCounts full = *passes::RowCounts::parse("full");
  std::optional<time::LiveRows> rows;
  if (job.counts || job.rowBytes != 0 || job.program.oncePerRank != ir::OncePerRank::Off)
    rows.emplace(job.proof->rows, job.counts ? *job.counts : full, job.rowBytes, job.choices);
  time::Estimate result = time::estimate(job.program, on.machine, on.runner, size, detail, rows ? &*rows : nullptr);
  if (result.complete)
    return result;
  return job.diags.report(diag::never_ends, {}, {std::to_string(size)});
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

std::string headOf(const Job &job, const TimedOn &on, const std::string &name) {
  const std::optional<std::uint64_t> scheduled = scheduledFor(job);
  return ir::printable(name) + " on " + on.machine.name + ", run by " + std::string(toString(on.runner)) +
         (!scheduled ? ""
                     : ", scheduled for " + (job.each ? "each size" : shownBytes(*scheduled)) + " (--message-size)");
}

std::optional<std::uint64_t> scheduledFor(const Job &job) {
  return job.chosen && !job.chosen->choice.tried.empty() ? std::optional(job.chosen->bytes) : std::nullopt;
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
