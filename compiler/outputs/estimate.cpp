// --estimate
#include "compiler/outputs/estimates.h"

#include "ir/collectives.h"
#include "ir/diagnostics.h"
#include "passes/time/published.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

namespace mscclc::driver {
namespace {

namespace time = passes::time;

/// Returns the message bytes per nanosecond, which are GB/s.
double algorithmBandwidth(const time::Estimate &estimate) {
  return static_cast<double>(estimate.messageBytes) / estimate.total;
}

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f %%", 100 * share);
  return text;
}

/// Returns, for each kind of resource, the busiest one.
std::map<time::Cause, time::Traffic> busiest(const time::Estimate &estimate) {
  std::map<time::Cause, time::Traffic> most;
  for (const time::Traffic &traffic : estimate.timeline.traffic) {
    const auto [at, isNew] = most.emplace(traffic.kind, traffic);
    if (!isNew && traffic.bytes / traffic.capacity > at->second.bytes / at->second.capacity)
      at->second = traffic;
  }
  return most;
}

/// Returns the columns about the schedule for one message size.
std::string scheduleColumns(const TimedSchedule &row) {
  if (!row.choices)
    return std::string();
  char text[64];
  std::snprintf(text, sizeof text, "  %-8s %9u %6u %6s", std::string(ir::toString(row.choices->protocol)).c_str(),
                row.choices->instances, row.blocks,
                row.choices->step != 0 ? shownBytes(row.choices->step).c_str() : "-");
  return text;
}

/// True if --synthesize made different programs for different sizes.
bool isMixed(const Job &job) {
  return std::ranges::any_of(job.timed, [&](const TimedSchedule &row) { return row.program != job.program.name; });
}

/// Returns the program's name, or the collective's name if programs differ.
const std::string &nameOf(const Job &job) {
  return isMixed(job) ? job.program.collective.name : job.program.name;
}

std::string table(const Job &job, const TimedOn &on) {
  const double factor = ir::busFactor(job.program);
  const bool isScheduled =
      std::ranges::any_of(job.timed, [](const TimedSchedule &row) { return row.choices.has_value(); });
  const bool isPublished =
      std::ranges::any_of(job.timed, [](const TimedSchedule &row) { return row.published.has_value(); });
  const bool hasPrograms = isMixed(job);
  std::string text = headOf(job, on, nameOf(job)) + "\n";
  char line[256];
  std::snprintf(line, sizeof line, "%8s %12s %10s %10s  %-12s %14s %18s", "size", "time", "algbw", "busbw", "bound by",
                "links alone", "latencies alone");
  text += line;
  text += isScheduled ? "  protocol instances blocks   step" : "";
  text += isPublished ? "         NCCL" : "";
  text += hasPrograms ? "  program\n" : "\n";
  for (const TimedSchedule &row : job.timed) {
    const time::Estimate &estimate = row.estimate;
    const double bandwidth = algorithmBandwidth(estimate);
    std::snprintf(line, sizeof line, "%8s %12s %10.2f %10.2f  %-12s %14s %18s",
                  shownBytes(estimate.messageBytes).c_str(), shownTime(estimate.total).c_str(), bandwidth,
                  bandwidth * factor, std::string(time::toString(estimate.bound)).c_str(),
                  percent(estimate.linkBound / estimate.total).c_str(),
                  percent(estimate.latencyBound / estimate.total).c_str());
    text += line + scheduleColumns(row);
    if (isPublished) {
      std::snprintf(line, sizeof line, " %12s", row.published ? shownTime(*row.published).c_str() : "-");
      text += line;
    }
    text += hasPrograms ? "  " + ir::printable(row.program) + "\n" : "\n";
  }
  text += "bandwidths in GB/s; links alone: the share of the time if nothing but links took any; latencies alone: the "
          "same\n";
  if (isScheduled)
    text += "blocks: of a rank, in all instances; step: bytes of a chunk that a pipeline moves at once\n";
  if (isPublished)
    text += "NCCL: its published time\n";
  const time::Estimate &largest = std::ranges::max_element(job.timed, {}, [](const TimedSchedule &row) {
                                    return row.estimate.messageBytes;
                                  })->estimate;
  if (!largest.timeline.traffic.empty())
    text += "traffic at " + shownBytes(largest.messageBytes) + " of the busiest, in bytes on the wire:\n";
  for (const auto &[kind, traffic] : busiest(largest)) {
    std::snprintf(line, sizeof line, "  %-12s rank %-5u %14.0f bytes, busy %s of the time\n",
                  std::string(time::toString(kind)).c_str(), traffic.rank, traffic.bytes,
                  percent(traffic.bytes / traffic.capacity / largest.timeline.end).c_str());
    text += line;
  }
  return text;
}

nlohmann::ordered_json document(const Job &job, const TimedOn &on) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const TimedSchedule &timed : job.timed) {
    const time::Estimate &estimate = timed.estimate;
    nlohmann::ordered_json spent = nlohmann::ordered_json::object(), traffic = nlohmann::ordered_json::array();
    for (std::size_t cause = 0; cause < time::causeCount; ++cause)
      if (estimate.spent[cause] > 0)
        spent[std::string(time::toString(static_cast<time::Cause>(cause)))] = estimate.spent[cause] / 1e3;
    for (const time::Traffic &link : estimate.timeline.traffic) {
      nlohmann::ordered_json row = {{"kind", time::toString(link.kind)}, {"rank", link.rank}};
      if (link.peer != time::Span::none)
        row["peer"] = link.peer;
      row["bytes"] = std::llround(link.bytes); // on the wire
      row["GBps"] = link.capacity;
      traffic.push_back(std::move(row));
    }
    rows.push_back({{"bytes", estimate.messageBytes},
                    {"us", estimate.total / 1e3},
                    {"algbw_GBps", algorithmBandwidth(estimate)},
                    {"busbw_GBps", algorithmBandwidth(estimate) * ir::busFactor(job.program)},
                    {"bound", time::toString(estimate.bound)},
                    {"links_us", estimate.linkBound / 1e3},
                    {"latencies_us", estimate.latencyBound / 1e3},
                    {"extrapolated", estimate.extrapolated},
                    {"spent_us", std::move(spent)},
                    {"traffic", std::move(traffic)}});
    if (timed.choices)
      rows.back().update({{"program", timed.program},
                          {"scheduled_for", job.each ? estimate.messageBytes : *scheduledFor(job)},
                          {"protocol", ir::toString(timed.choices->protocol)},
                          {"instances", timed.choices->instances},
                          {"blocks", timed.blocks},
                          {"step_bytes", timed.choices->step}});
    if (timed.published)
      rows.back()["nccl_us"] = *timed.published / 1e3;
  }
  nlohmann::ordered_json whole = {{"program", nameOf(job)},
                                  {"machine", on.machine.name},
                                  {"runner", on.runner == time::Runner::Executor ? "executor" : "kernel"}};
  if (const auto bytes = scheduledFor(job); bytes && !job.each)
    whole["scheduled_for"] = *bytes;
  whole["estimates"] = std::move(rows);
  return whole;
}

} // namespace

bool writeEstimate(Job &job) {
  const auto on = timedOn(job);
  if (!on)
    return false;
  std::uint64_t blocks = 0;
  for (const ir::Rank &rank : job.program.ranks)
    blocks = std::max(blocks, rank.busyBlocks());
  for (const std::uint64_t size : timedSizes(job)) {
    auto estimate = timeOf(job, *on, size, time::Detail::Folded);
    if (!estimate)
      return false;
    job.result += (job.result.empty() ? "" : ", ") + shownBytes(size) + " " + shownTime(estimate->total);
    job.timed.push_back({.program = job.program.name,
                         .estimate = std::move(*estimate),
                         .blocks = static_cast<std::uint32_t>(blocks),
                         .published = time::publishedTime(job.program, on->machine, size)});
    if (scheduledFor(job))
      job.timed.back().choices = job.chosen->choice.choices;
  }
  if (job.diags.hasErrors())
    return false;
  job.times.lap("estimate");
  if (job.each && !job.each->isLast)
    return true;
  return job.options.json ? job.say(document(job, *on)) : job.say(table(job, *on));
}

} // namespace mscclc::driver
