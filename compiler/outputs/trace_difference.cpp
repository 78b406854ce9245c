// --trace-diff
#include "compiler/diagnostics.h"
#include "compiler/files.h"
#include "compiler/outputs/estimates.h"
#include "passes/time/trace_diff.h"

#include "ir/diagnostics.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

namespace mscclc::driver {
namespace {

namespace time = passes::time;

std::optional<time::MeasuredTrace> readMeasured(Job &job) {
  const std::string &path = job.options.outputValue;
  std::string text, error;
  if (!readWhole(path, text, error, looksLikeText))
    return job.diags.report(diag::cannot_read, {}, {error});
  try {
    return time::readTrace(text);
  } catch (const time::TraceError &fault) {
    return job.diags.report(diag::bad_trace, {}, {path, fault.message});
  }
}

/// Returns a text if the trace does not belong to a launch of this program: which launch it belongs to, and the option
/// to write. Returns an empty text if it may belong to this program. Ignores values of the trace for which the user
/// gave an option.
std::string otherLaunch(const Job &job, const time::TracedLaunch &launch) {
  if (launch.program && *launch.program != job.program.name)
    return "it is of the program '" + ir::printable(*launch.program) + "', and this one is '" +
           ir::printable(job.program.name) + "'";
  if (launch.runner == toString(time::Runner::Kernel) && job.target.executor && !job.options.target)
    return "it is of a kernel; write --target=none";
  if (!job.chosen)
    return "";
  // The schedule depends on the machine and on the size, so these must be equal.
  if (launch.machine && *launch.machine != job.chosen->machine.name && !job.options.hasMachine)
    return "its schedule is chosen for the machine " + ir::printable(*launch.machine) + "; write --machine";
  if (launch.scheduledFor && *launch.scheduledFor != job.chosen->bytes && job.options.messageSize == 0)
    return "its schedule is chosen for another size; write --message-size " + std::to_string(*launch.scheduledFor);
  return "";
}

/// Returns the source line of the operations; if they have none, the rank, block and number of the first operation.
std::string placeOf(const Job &job, const time::OperationDifference &difference) {
  const std::string source = sourceOf(job.program, ir::opAt(job.program, difference.first));
  const ir::OpRef &at = difference.first;
  return !source.empty() ? source
                         : "rank " + std::to_string(at.rank) + " block " + std::to_string(at.block) + " operation " +
                               std::to_string(at.op);
}

std::string ratio(time::Time measured, time::Time predicted) {
  if (predicted <= 0)
    return "-";
  char text[64];
  std::snprintf(text, sizeof text, "x%.2f", measured / predicted);
  return text;
}

std::string row(const std::string &measured, const std::string &predicted, const std::string &ratio) {
  char line[256];
  std::snprintf(line, sizeof line, "%14s %14s %9s  ", measured.c_str(), predicted.c_str(), ratio.c_str());
  return line;
}

std::string table(const Job &job, const TimedOn &on, const time::Estimate &estimate, const time::MeasuredTrace &trace,
                  const time::TraceDifference &difference) {
  std::string text = headOf(job, on, job.program.name) + ": " + shownBytes(estimate.messageBytes) + ", beside " +
                     ir::printable(job.options.outputValue) + "\n" +
                     ir::plural(difference.compared, "measured operation") + " compared, " +
                     std::to_string(difference.launches) + (difference.launches == 1 ? " launch" : " launches") +
                     "; without counterpart: " + std::to_string(difference.unpredicted) + " measured, " +
                     std::to_string(difference.unmeasured) + " predicted; " + ir::plural(trace.others, "event") +
                     " of no operation\n" + row("measured", "predicted", "ratio") + "departing  operation\n";
  std::size_t alike = 0;
  for (const time::OperationDifference &place : difference.operations) {
    if (place.departing == 0) {
      ++alike;
      continue;
    }
    char share[64];
    std::snprintf(share, sizeof share, "%9s  ",
                  (std::to_string(place.departing) + "/" + std::to_string(place.times)).c_str());
    text += row(shownTime(place.measured), shownTime(place.predicted), ratio(place.measured, place.predicted)) + share +
            std::string(ir::wordOf(job.program, ir::opAt(job.program, place.first))) + ", " +
            ir::printable(placeOf(job, place)) + "\n";
  }
  char tolerance[128];
  std::snprintf(tolerance, sizeof tolerance, "%zu of %zu places do not depart by more than %.0f %% and %s\n", alike,
                difference.operations.size(), 100 * time::toleratedShare, shownTime(time::toleratedTime).c_str());
  text += tolerance;
  for (const time::RankDifference &rank : difference.ranks)
    text += row(shownTime(rank.measured), shownTime(rank.predicted), ratio(rank.measured, rank.predicted)) + "rank " +
            std::to_string(rank.rank) + (time::departs(rank.measured, rank.predicted) ? ", departs\n" : "\n");
  return text;
}

nlohmann::ordered_json document(const Job &job, const TimedOn &on, const time::Estimate &estimate,
                                const time::MeasuredTrace &trace, const time::TraceDifference &difference) {
  using Json = nlohmann::ordered_json;
  Json operations = Json::array(), ranks = Json::array();
  for (const time::OperationDifference &place : difference.operations)
    operations.push_back({{"operation", ir::wordOf(job.program, ir::opAt(job.program, place.first))},
                          {"source", placeOf(job, place)},
                          {"times", place.times},
                          {"departing", place.departing},
                          {"measured_us", place.measured / 1e3},
                          {"predicted_us", place.predicted / 1e3}});
  for (const time::RankDifference &rank : difference.ranks)
    ranks.push_back({{"rank", rank.rank},
                     {"measured_us", rank.measured / 1e3},
                     {"predicted_us", rank.predicted / 1e3},
                     {"departs", time::departs(rank.measured, rank.predicted)}});
  return {{"program", job.program.name},
          {"machine", on.machine.name},
          {"bytes", estimate.messageBytes},
          {"launches", difference.launches},
          {"compared", difference.compared},
          {"unpredicted", difference.unpredicted},
          {"unmeasured", difference.unmeasured},
          {"other_events", trace.others},
          {"tolerance", {{"share", time::toleratedShare}, {"us", time::toleratedTime / 1e3}}},
          {"operations", std::move(operations)},
          {"ranks", std::move(ranks)}};
}

} // namespace

bool writeTraceDifference(Job &job) {
  const auto trace = readMeasured(job);
  if (!trace)
    return false;
  if (const std::string other = otherLaunch(job, trace->launch); !other.empty())
    return job.diags.report(diag::bad_trace, {}, {job.options.outputValue, other});
  const auto launch = oneLaunch(job, time::Detail::Ranks, trace->launch);
  if (!launch)
    return false;
  const time::TraceDifference difference = time::compareTraces(job.program, launch->estimate.timeline, *trace);
  job.times.lap("compare");
  if (difference.compared == 0)
    return job.diags.report(diag::bad_trace, {},
                            {job.options.outputValue, "none of its operations is one of the program's"});
  return job.options.json ? job.say(document(job, launch->on, launch->estimate, *trace, difference))
                          : job.say(table(job, launch->on, launch->estimate, *trace, difference));
}

} // namespace mscclc::driver
