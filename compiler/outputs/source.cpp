// --emit-dsl
#include "compiler/outputs/dsl/source.h"
#include "backend-json/compare_plans.h"
#include "compiler/diagnostics.h"
#include "compiler/outputs/dsl/calls.h"
#include "compiler/outputs/dsl/program_text.h"
#include "compiler/outputs/outputs.h"
#include "ir/collectives.h"
#include "passes/pipeline.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

namespace mscclc::driver {
namespace {

/// A candidate for the source: a program, and the passes that compile it to the plan.
struct Rewriting {
  ir::Program program;
  std::string passes = passes::pipeline(1, passes::Stage::Tidy); ///< the passes that compile `program` to the plan
  std::string option = {};                                       ///< the command-line option that selects these passes
};

/// Returns a candidate with the operations of `program`, cut into calls, which -O1 compiles to `program` again. Fusion
/// is on only if it must join calls again.
Rewriting asItStands(const ir::Program &program) {
  Rewriting made{dsl::cutIntoCalls(program)};
  made.program.fuse = !dsl::isMadeOfCalls(program);
  made.program.autoSync = false;
  return made;
}

/// Returns the candidates to try. The most readable one comes first: it has the program as the user wrote it. The
/// others have the program as it is in the plan.
std::vector<Rewriting> candidatesOf(const Job &job) {
  std::vector<Rewriting> candidates;
  const bool isScheduled = job.calls.movement.statements.empty();
  const int level = job.optLevel();
  if (isScheduled && job.options.hasPasses && job.options.stopAfter.empty())
    candidates.push_back({dsl::cutIntoCalls(job.calls), job.options.passes, " --passes=" + job.options.passes});
  else if (isScheduled && !job.options.hasPasses && level != 0)
    candidates.push_back({dsl::cutIntoCalls(job.calls), passes::pipeline(level, passes::Stage::Tidy),
                          level == 1 ? "" : " -O" + std::to_string(level)});
  else if (isScheduled && !job.options.hasPasses)
    candidates.push_back(asItStands(job.calls));
  candidates.push_back(asItStands(job.program));
  candidates.push_back(asItStands(job.program));
  candidates.back().program.latePacketsApart = true;
  for (Rewriting &candidate : candidates) {
    candidate.program.schedule = ir::Schedule::Manual;
    const ir::Movement given = std::exchange(candidate.program.movement, {});
    candidate.program.movement.ranksPerNode = given.ranksPerNode;
    candidate.program.movement.accumulate = given.accumulate;
  }
  return candidates;
}

/// Returns why the candidate does not compile to the plan; empty if it does.
std::string difference(const Job &job, const Rewriting &candidate) {
  ir::Program compiled = candidate.program;
  ir::DiagnosticEngine diags;
  passes::PassManagerOptions options;
  options.target = job.passTarget();
  passes::PassManager manager(std::move(options), passes::propertiesOf(compiled));
  if (const std::string wrong = manager.add(candidate.passes); !wrong.empty())
    return wrong; // the passes of the command line may only be valid for statements
  diags.allow(job.options.allowed);
  if (!manager.run(compiled, diags).ok)
    return "its operations cannot be cut into calls";
  const json::PlanComparison comparison = json::comparePlans(job.program, compiled);
  return comparison.equal() ? "" : json::describe(comparison.differences.front(), "what its calls make");
}

/// Returns a file name, quoted for a shell if necessary.
std::string shellWord(const std::string &name) {
  const std::string word = name.starts_with('-') ? "./" + name : name;
  const auto isPlain = [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("._-/+,=@%").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (std::ranges::all_of(word, isPlain))
    return word;
  std::string quoted = "'";
  for (const char c : word)
    quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string commandOf(const Job &job, const std::string &option) {
  const std::string &path = job.options.outputPath;
  std::string command = "mscclc " + shellWord(path == "-" ? dsl::functionName(job.program) + ".cpp"
                                                          : std::filesystem::path(path).filename().string());
  command += option;
  for (const std::string &name : job.options.allowed)
    command += " --allow=" + name;
  if (job.options.target)
    command += " --target=" + *job.options.target;
  const bool hasPlan = !ir::info(job.program.collective.kind).hasRows;
  return command + (hasPlan ? " -o plan.json" : " --emit-ir -o plan.ir");
}

/// Returns the options for which a program was synthesised. The command for the source repeats them, so that its
/// schedule is the same.
std::string schedulingOf(const Job &job) {
  std::string options = job.options.hasMachine ? " --machine " + shellWord(job.options.machine) : std::string();
  if (job.options.messageSize != 0)
    options += " --message-size " + std::to_string(job.options.messageSize);
  return options;
}

/// Writes the source of `program`. The command in its first comment has `option`. If the language cannot express the
/// program, sets `why` and returns nothing.
std::optional<bool> writeAs(Job &job, const ir::Program &program, const std::string &option, std::string &why) {
  const std::string madeFrom = std::filesystem::path(job.input.shownName).filename().string();
  try {
    const std::string text = dsl::sourceOf(program, {commandOf(job, option), madeFrom});
    job.times.lap("emit");
    return job.writeFile(job.options.outputPath, [&](std::ostream &stream) { stream << text; });
  } catch (const dsl::NoSource &no) {
    why = no.why;
    return std::nullopt;
  }
}

} // namespace

bool writeSource(Job &job) {
  std::string why;
  if (job.synthesized)
    if (const auto written = writeAs(job, *job.synthesized, schedulingOf(job), why))
      return *written;
  if (std::ranges::any_of(ir::opsOf(job.program.ranks), [](const ir::Op &op) { return op.firstAfter != 0; }))
    return job.diags.report(diag::plan_without_source, {},
                            {"a reduction combines its first source after others, and calls combine it first"});
  for (const Rewriting &candidate : candidatesOf(job)) {
    why = difference(job, candidate);
    if (!why.empty())
      continue;
    if (const auto written = writeAs(job, candidate.program, candidate.option, why))
      return *written;
  }
  return job.diags.report(diag::plan_without_source, {}, {why});
}

} // namespace mscclc::driver
