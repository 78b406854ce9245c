// --critical-path
#include "compiler/diagnostics.h"
#include "compiler/outputs/estimates.h"

#include "ir/diagnostics.h"

#include <nlohmann/json.hpp>

#include <cstdio>

namespace mscclc::driver {
namespace {

namespace time = passes::time;

/// Returns the critical path. Consecutive steps with the same span and cause become one step.
std::vector<time::PathStep> joined(const time::Timeline &timeline) {
  std::vector<time::PathStep> steps;
  for (const time::PathStep &step : time::criticalPath(timeline))
    if (!steps.empty() && steps.back().span == step.span && steps.back().cause == step.cause)
      steps.back().to = step.to;
    else
      steps.push_back(step);
  return steps;
}

struct Step {
  time::PathStep times;
  std::string what, where, source;
};

std::vector<Step> describe(const ir::Program &program, const time::Estimate &estimate) {
  std::vector<Step> steps;
  for (const time::PathStep &step : joined(estimate.timeline)) {
    if (step.span == time::Span::none) {
      steps.push_back({step, std::string(time::toString(step.cause)), "", ""});
      continue;
    }
    const time::Span &span = estimate.timeline.spans[step.span];
    if (span.proxy) {
      steps.push_back({step, "proxy", "rank " + std::to_string(span.rank) + " port " + std::to_string(span.block), ""});
      continue;
    }
    const ir::Op &op = ir::opAt(program, {span.rank, span.block, span.op});
    steps.push_back({step, std::string(ir::wordOf(program, op)),
                     "rank " + std::to_string(span.rank) + " block " + std::to_string(span.block),
                     sourceOf(program, op)});
  }
  return steps;
}

std::string table(const Job &job, const TimedOn &on, const time::Estimate &estimate) {
  std::string text = headOf(job, on, job.program.name) + ": " + shownBytes(estimate.messageBytes) + " in " +
                     shownTime(estimate.total) + "\n";
  char line[512];
  for (const Step &step : describe(job.program, estimate)) {
    std::snprintf(line, sizeof line, "%10.3f %+10.3f us  %-12s %-24s %-20s ", step.times.from / 1e3,
                  (step.times.to - step.times.from) / 1e3, std::string(time::toString(step.times.cause)).c_str(),
                  step.what.c_str(), step.where.c_str());
    text += line + ir::printable(step.source) + "\n";
  }
  return text;
}

nlohmann::ordered_json document(const Job &job, const TimedOn &on, const time::Estimate &estimate) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Step &step : describe(job.program, estimate))
    rows.push_back({{"from_us", step.times.from / 1e3},
                    {"to_us", step.times.to / 1e3},
                    {"cause", time::toString(step.times.cause)},
                    {"operation", step.what},
                    {"where", step.where},
                    {"source", step.source}});
  nlohmann::ordered_json whole = {{"program", job.program.name}, {"machine", on.machine.name}};
  if (const auto bytes = scheduledFor(job))
    whole["scheduled_for"] = *bytes;
  whole.update({{"bytes", estimate.messageBytes}, {"us", estimate.total / 1e3}, {"path", std::move(rows)}});
  return whole;
}

} // namespace

bool writeCriticalPath(Job &job) {
  const auto on = timedOn(job);
  if (!on)
    return false;
  const std::vector<std::uint64_t> sizes = timedSizes(job);
  std::string text;
  nlohmann::ordered_json paths = nlohmann::ordered_json::array();
  for (const std::uint64_t size : sizes) {
    const auto estimate = timeOf(job, *on, size);
    if (!estimate)
      return false;
    if (job.options.json)
      paths.push_back(document(job, *on, *estimate));
    else
      text += table(job, *on, *estimate);
  }
  if (sizes.empty())
    return false;
  job.times.lap("estimate");
  return job.options.json ? job.say(paths) : job.say(text);
}

} // namespace mscclc::driver
