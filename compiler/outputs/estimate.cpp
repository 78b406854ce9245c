// --estimate
#include "compiler/outputs/estimates.h"

#include "ir/collectives.h"
#include "ir/diagnostics.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

namespace mscclc::driver {
namespace {

namespace time = passes::time;

/// Returns bytes of the message in a nanosecond: GB/s.
double algorithmBandwidth(const time::Estimate &estimate) {
  return static_cast<double>(estimate.messageBytes) / estimate.total;
}

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f %%", 100 * share);
  return text;
}

/// Returns the busiest resource of each kind.
std::map<time::Cause, time::Traffic> busiest(const time::Estimate &estimate) {
  std::map<time::Cause, time::Traffic> most;
  for (const time::Traffic &traffic : estimate.timeline.traffic) {
    const auto [at, isNew] = most.emplace(traffic.kind, traffic);
    if (!isNew && traffic.bytes / traffic.capacity > at->second.bytes / at->second.capacity)
      at->second = traffic;
  }
  return most;
}

std::string table(const Job &job, const TimedOn &on, const std::vector<time::Estimate> &estimates) {
  const double factor = ir::busFactor(job.program);
  std::string text = headOf(job, on) + "\n";
  char line[256];
  std::snprintf(line, sizeof line, "%8s %12s %10s %10s  %-12s %14s %18s\n", "size", "time", "algbw", "busbw",
                "bound by", "links alone", "latencies alone");
  text += line;
  for (const time::Estimate &estimate : estimates) {
    const double bandwidth = algorithmBandwidth(estimate);
    std::snprintf(line, sizeof line, "%8s %12s %10.2f %10.2f  %-12s %14s %18s\n",
                  shownBytes(estimate.messageBytes).c_str(), shownTime(estimate.total).c_str(), bandwidth,
                  bandwidth * factor, std::string(time::toString(estimate.bound)).c_str(),
                  percent(estimate.linkBound / estimate.total).c_str(),
                  percent(estimate.latencyBound / estimate.total).c_str());
    text += line;
  }
  text += "bandwidths in GB/s; links alone: the share of the time if nothing but links took any; latencies alone: the "
          "same\n";
  const time::Estimate &largest = *std::ranges::max_element(estimates, {}, &time::Estimate::messageBytes);
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

nlohmann::ordered_json document(const Job &job, const TimedOn &on, const std::vector<time::Estimate> &estimates) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const time::Estimate &estimate : estimates) {
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
  }
  nlohmann::ordered_json whole = {{"program", job.program.name},
                                  {"machine", on.machine.name},
                                  {"runner", on.runner == time::Runner::Executor ? "executor" : "kernel"}};
  if (const auto bytes = scheduledFor(job))
    whole["scheduled_for"] = *bytes;
  whole["estimates"] = std::move(rows);
  return whole;
}

} // namespace

bool writeEstimate(Job &job) {
  const auto on = timedOn(job);
  if (!on)
    return false;
  std::vector<time::Estimate> estimates;
  for (const std::uint64_t size : timedSizes(job)) {
    auto estimate = timeOf(job, *on, size);
    if (!estimate)
      return false;
    job.result += (job.result.empty() ? "" : ", ") + shownBytes(size) + " " + shownTime(estimate->total);
    estimates.push_back(std::move(*estimate));
  }
  if (estimates.empty())
    return false;
  job.times.lap("estimate");
  return job.options.json ? job.say(document(job, *on, estimates)) : job.say(table(job, *on, estimates));
}

} // namespace mscclc::driver
