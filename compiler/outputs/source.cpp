// --emit-dsl
#include "compiler/outputs/dsl/source.h"
#include "backend-json/compare_plans.h"
#include "compiler/diagnostics.h"
#include "compiler/outputs/dsl/calls.h"
#include "compiler/outputs/dsl/program_text.h"
#include "compiler/outputs/outputs.h"
#include "compiler/pipeline.h"
#include "ir/internal_error.h"

#include <filesystem>

namespace mscclc::driver {
namespace {

/// A program that may become the source, and the level of optimization that makes the plan of it.
struct Candidate {
  ir::Program program;
  int optLevel = 1;
};

/// `program` as a source whose calls -O1 neither parts nor joins by itself, but for those that were joined.
Candidate asItStands(const ir::Program &program) {
  Candidate made{dsl::cutIntoCalls(program)};
  made.program.fuse = !dsl::isMadeOfCalls(program);
  made.program.autoSync = false;
  return made;
}

/// What may become the source, the most readable first: as it was written, then as it is in the plan.
std::vector<Candidate> candidatesOf(const Job &job) {
  std::vector<Candidate> candidates;
  const bool isScheduled = job.calls.movement.statements.empty();
  if (isScheduled && !job.options.hasPasses && job.optLevel() != 0)
    candidates.push_back({dsl::cutIntoCalls(job.calls), job.optLevel()});
  else if (isScheduled && !job.options.hasPasses)
    candidates.push_back(asItStands(job.calls));
  candidates.push_back(asItStands(job.program));
  for (Candidate &candidate : candidates) {
    candidate.program.schedule = ir::Schedule::Manual;
    candidate.program.movement = {};
  }
  return candidates;
}

/// What keeps a candidate from being the source; empty: nothing.
std::string difference(const Job &job, const Candidate &candidate) {
  ir::Program compiled = candidate.program;
  ir::DiagnosticEngine diags;
  passes::PassManagerOptions options;
  options.target = job.target;
  passes::PassManager manager(std::move(options), passes::propertiesOf(compiled));
  if (const std::string wrong = manager.add(pipelineOf(candidate.optLevel)); !wrong.empty())
    throw ir::InternalError(wrong);
  diags.allow(job.options.allowed);
  if (!manager.run(compiled, diags).ok)
    return "its operations cannot be cut into calls";
  const json::PlanComparison comparison = json::comparePlans(job.program, compiled);
  return comparison.equal() ? "" : json::describe(comparison.differences.front(), "what its calls make");
}

std::string commandOf(const Job &job, int optLevel) {
  const std::string &path = job.options.outputPath;
  std::string command = "mscclc " + (path == "-" ? dsl::functionName(job.program) + ".cpp"
                                                 : std::filesystem::path(path).filename().string());
  if (optLevel != 1)
    command += " -O" + std::to_string(optLevel);
  for (const std::string &name : job.options.allowed)
    command += " --allow=" + name;
  if (job.options.target)
    command += " --target=" + *job.options.target;
  return command + " -o plan.json";
}

} // namespace

ExitCode writeSource(Job &job) {
  std::string why;
  for (const Candidate &candidate : candidatesOf(job)) {
    why = difference(job, candidate);
    if (!why.empty())
      continue;
    const std::string madeFrom = std::filesystem::path(job.input.shownName).filename().string();
    const auto text = dsl::sourceOf(candidate.program, {commandOf(job, candidate.optLevel), madeFrom}, why);
    job.times.lap("emit");
    if (text)
      return job.writeFile(job.options.outputPath, [&](std::ostream &stream) { stream << *text; });
  }
  job.diags.report(diag::plan_without_source, {}, {why});
  return exitInputWrong;
}

} // namespace mscclc::driver
