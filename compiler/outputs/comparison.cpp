// --diff
#include "backend-json/compare_plans.h"
#include "backend-json/read_plan.h"
#include "compiler/diagnostics.h"
#include "compiler/files.h"
#include "compiler/outputs/plan.h"
#include "passes/analysis/message_limits.h"

#include <filesystem>

namespace mscclc::driver {
namespace {

std::optional<ir::Program> readGolden(Job &job, const std::string &path) {
  std::string text, error;
  if (!readWhole(path, text, error, looksLikeText)) {
    std::error_code ignored;
    const bool isMissing = !std::filesystem::exists(path, ignored);
    return job.diags.report(diag::cannot_read, {}, {isMissing ? error + "; --update writes it" : error});
  }
  return json::readPlan(text, path, job.diags);
}

void report(Job &job, const std::string &golden, const json::PlanComparison &comparison) {
  std::uint64_t told = 0;
  ir::DiagBuilder report = job.diags.report(diag::golden_differs, {}, {golden, ir::plural(comparison.total, "place")});
  const std::string shortName = std::filesystem::path(golden).filename();
  for (const json::PlanDifference &difference : comparison.differences) {
    report.note(diag::golden_difference, difference.loc, {json::describe(difference, shortName)});
    if (difference.others != 0)
      report.note(diag::golden_alike, {}, {difference.others});
    told += 1 + difference.others;
  }
  if (told != comparison.total)
    report.note(diag::golden_more, {}, {ir::plural(comparison.total - told, "more difference")});
}

} // namespace

bool writeComparison(Job &job) {
  const std::string &path = job.options.outputValue;
  std::optional<ir::Program> golden;
  if (!job.options.update && !(golden = readGolden(job, path)))
    return false;
  if (job.options.hasOutputPath)
    if (!writePlanTo(job, job.options.outputPath))
      return false;
  if (job.options.update) {
    job.result = "written to " + path;
    return writePlanTo(job, path);
  }
  if (job.target.executor)
    for (ir::Program *program : {&job.program, &*golden})
      if (program->maxMessageSize == passes::largestMessage(*program, job.target))
        program->maxMessageSize = ir::Program().maxMessageSize; // the target's limit does not count as a difference
  const json::PlanComparison comparison = json::comparePlans(job.program, *golden);
  job.times.lap("compare");
  if (comparison.equal()) {
    job.result = "equal to " + path;
    return true;
  }
  job.result = "differs from " + path + " in " + ir::plural(comparison.total, "place");
  report(job, path, comparison);
  return false;
}

} // namespace mscclc::driver
