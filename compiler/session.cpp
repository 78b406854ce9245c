#include "compiler/session.h"

#include "backend-json/compare_plans.h"
#include "compiler/diagnostics.h"
#include "compiler/outputs/estimates.h"
#include "compiler/overwrite.h"
#include "compiler/pipeline.h"
#include "passes/schedule/choose.h"
#include "passes/schedule/same_values.h"
#include "passes/verify/translation_check.h"
#include "passes/verify/verify.h"

#ifdef MSCCLC_WITH_FRONTEND
#include "compiler/algorithm.h"
#endif

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <utility>

#include <unistd.h>

namespace mscclc::driver {
namespace {

/// The passes that --print-before or --print-after names: a list, or "all".
passes::PassFilter filterOf(const std::string &list) {
  passes::PassFilter filter;
  filter.all = list == "all";
  if (!filter.all)
    for (const std::string_view name : passes::splitNames(list))
      filter.names.emplace(name);
  return filter;
}

std::string renderStats(const std::vector<passes::PassRecord> &records) {
  std::string out = "what passes did\n";
  for (const passes::PassRecord &record : records)
    for (const auto &counter : record.stats.counters())
      out += "  " + std::string(record.pass) + ": " + std::to_string(counter.value) + " " + std::string(counter.name) +
             "\n";
  return out;
}

} // namespace

Session::Session(const Options &options, const passes::Target &target, bool inTable)
    : options_(options), output_(*options.output), readable_(readableFiles(options)),
      job_{.options = options, .target = target, .diags = diags_, .times = times_, .inTable = inTable} {
  configure(diags_, options_);
  diags_.setReadable(&readable_);
}

void Session::configure(ir::DiagnosticEngine &diags, const Options &options) {
  diags.allow(options.allowed);
  diags.setErrorLimit(options.maxErrors);
}

std::string Session::render(const ir::DiagnosticEngine &diags, const Options &options) {
  const bool color = options.color == ColorMode::Always ||
                     (options.color == ColorMode::Auto && isatty(STDERR_FILENO) && !std::getenv("NO_COLOR"));
  return diags.render(color, !options.quiet);
}

ExitCode exitAfterLoading([[maybe_unused]] InputKind kind, [[maybe_unused]] const ir::DiagnosticEngine &diags) {
#ifdef MSCCLC_WITH_FRONTEND
  if (kind == InputKind::Algorithm && isCommandLineWrong(diags))
    return exitUsage;
#endif
  return exitInputWrong;
}

Outcome Session::run(Input input, StageTimes times) {
  times_ = std::move(times);
  job_.input = std::move(input);
  ExitCode code = steps();
  if (options_.timePasses && code == exitDone && output_.subject == Subject::Program)
    report_ += times_.render(recorded_);
  if (diags_.hasErrors() && code == exitDone)
    code = exitInputWrong;
  if (job_.result.empty())
    job_.result = code == exitDone ? "done" : ir::plural(diags_.numErrors(), "error");
  return {code, job_.result};
}

ExitCode Session::steps() {
  if (!checkOutputs(options_, diags_))
    return exitUsage;
  if (output_.subject == Subject::Program)
    for (const auto step : {&Session::load, &Session::transform, &Session::prove})
      if (const ExitCode code = (this->*step)(); code != exitDone)
        return code;
  return output_.write(job_);
}

ExitCode Session::load() {
  std::vector<std::string> files;
  // The text may be gigabytes, and goes once it is loaded.
  Input input{job_.input.shownName, job_.input.kind, std::exchange(job_.input.text, std::nullopt)};
  auto program = loadProgram(options_, std::move(input), diags_, times_, files);
  if (!program || diags_.hasErrors())
    return exitAfterLoading(job_.input.kind, diags_);
  job_.program = std::move(*program);
  diags_.setSources(&job_.program.sources);
  if (!checkIncluded(options_, files, diags_))
    return exitUsage;
  if (!options_.name.empty())
    job_.program.name = options_.name;
  recorded_ = job_.program.numOps() + job_.program.movement.statements.size();
  return exitDone;
}

passes::PassManagerOptions Session::passOptions() {
  passes::PassManagerOptions options;
  options.target = job_.passTarget();
  options.printBefore = filterOf(options_.printBefore);
  options.printAfter = filterOf(options_.printAfter);
  options.stopAfter = options_.stopAfter;
  options.verifyEach = options_.verifyEach != Options::VerifyEach::Off;
  options.print = [](std::string_view title, std::string_view text) {
    std::cerr << "// " << title << "\n" << text << std::flush;
  };
  if (options_.verifyEach == Options::VerifyEach::Proof)
    options.check = passes::checkTranslation(job_.program, options_.allowed);
  if (output_.keepsCalls)
    keepCalls(options);
  return options;
}

ExitCode Session::transform() {
  passes::PassManager manager(passOptions(), passes::propertiesOf(job_.program));
  const bool schedules = !job_.program.movement.statements.empty();
  for (const auto &[option, outputs] : options_.forScheduling)
    if (job_.program.schedule == ir::Schedule::Manual)
      diags_.report(diag::nothing_to_schedule, {}, {option, outputs});
  if (diags_.hasErrors())
    return exitUsage;
  const std::string pipeline = options_.hasPasses ? options_.passes
                               : schedules        ? schedulingPipelineOf(job_.optLevel())
                                                  : std::string(pipelineOf(job_.optLevel()));
  std::string wrong = manager.add(pipeline);
  if (wrong.empty())
    wrong = manager.checkOptions();
  if (!wrong.empty()) {
    diags_.report(diag::bad_pipeline, {}, {wrong});
    return exitUsage;
  }
  const passes::Properties missing = manager.missing(output_.needs);
  for (const passes::Property property : passes::allProperties)
    if (missing & property)
      diags_.report(diag::action_needs_pass, {},
                    {output_.consumer, passes::describe(property), passes::providerOf(property)});
  if (missing != 0)
    return exitUsage;
  times_.mark();
  std::vector<passes::PassRecord> done;
  if (schedules && !options_.hasPasses) {
    meaning_ = passes::schedule::meaningOf(job_.program, diags_);
    times_.lap("meaning");
    if (!meaning_)
      return exitInputWrong;
    if (const ExitCode code = choose(pipeline, done); code != exitDone)
      return code;
    if (!done.empty()) {
      manager = passes::PassManager(passOptions(), passes::propertiesOf(job_.program));
      manager.add(pipeline.substr(sharedPipeline().size() + 1));
    }
  }
  std::optional<ir::Program> given; // a plan that is proven for a target is proven as it stands
  if (job_.input.kind == InputKind::Plan && output_.proof == Proof::IsOutput && job_.target.executor &&
      job_.optLevel() == 0)
    given = job_.program;
  passes::PassRun result = manager.run(job_.program, diags_);
  result.records.insert(result.records.begin(), done.begin(), done.end());
  if (given && result.ok)
    reportRewritten(std::move(*given));
  for (const passes::PassRecord &record : result.records)
    times_.add(std::string(record.pass), record.seconds * 1e3);
  if (options_.stats)
    report_ += renderStats(result.records);
  return result.ok ? exitDone : exitInputWrong;
}

/// Keeps the program as it is before passes for thread blocks run.
void Session::keepCalls(passes::PassManagerOptions &options) {
  job_.calls = job_.program;
  options.check = [this, next = std::move(options.check)](std::string_view pass, const ir::Program &program,
                                                          ir::DiagnosticEngine &diags) {
    if (pass == "synchronise")
      job_.calls = program;
    return !next || next(pass, program, diags);
  };
}

/// Makes the choices that a program of statements leaves open. `done`: those of the passes of `pipeline` that the
/// program has been through then, with their time left out.
ExitCode Session::choose(std::string_view pipeline, std::vector<passes::PassRecord> &done) {
  const std::optional<TimedOn> on = namedMachine(job_);
  if (!on)
    return exitUsage;
  if (options_.messageSize != 0 &&
      (options_.messageSize < job_.program.minMessageSize || options_.messageSize > job_.program.maxMessageSize)) {
    diags_.report(diag::message_size_not_taken, {},
                  {options_.messageSize, job_.program.minMessageSize, job_.program.maxMessageSize});
    return exitUsage;
  }
  constexpr std::uint64_t usual = std::uint64_t{1} << 20;
  const std::uint64_t bytes =
      options_.messageSize != 0
          ? options_.messageSize
          : std::clamp(usual, std::max<std::uint64_t>(1, job_.program.minMessageSize), job_.program.maxMessageSize);
  const bool anyProtocol = job_.program.movement.chooseProtocol, anyInstances = job_.program.movement.chooseInstances;
  // Who wants to look at a pass wants to see it run.
  const bool watched = !options_.printBefore.empty() || !options_.printAfter.empty() || !options_.stopAfter.empty() ||
                       options_.verifyEach != Options::VerifyEach::Off || output_.keepsCalls;
  const std::string_view shared = !watched && pipeline.starts_with(sharedPipeline()) ? sharedPipeline() : "";
  const std::string passes = candidatePipeline();
  const passes::schedule::Goal goal{on->machine, on->runner, bytes, job_.target, passes, shared};
  passes::schedule::Choice choice = passes::schedule::choose(job_.program, goal);
  const bool keeps = choice.tried.empty() && keepBlocks(goal, pipeline, choice);
  done = std::exchange(choice.done, {});
  for (passes::PassRecord &record : done)
    record.seconds = 0;
  times_.lap("choose");
  if (options_.stats)
    report_ += "choose: " + ir::plural(choice.candidates, "candidate") + ", " + std::to_string(choice.refused) +
               " refused; " +
               (choice.nanoseconds == 0 ? "not timed"
                                        : std::to_string(static_cast<std::uint64_t>(choice.nanoseconds)) + " ns for " +
                                              ir::plural(bytes, "byte")) +
               "\n";
  job_.chosen = {std::move(choice), anyProtocol, anyInstances && !keeps, on->machine.name, on->runner, bytes, keeps};
  return exitDone;
}

/// Where an executor takes no thread blocks that are chosen, it may take those of a schedule in XML. If it does, the
/// program is that one, and `choice` what was chosen for it. Else all stays as it is. Other than where there is a
/// choice, all passes of `pipeline` are run: those that prune make blocks shorter.
bool Session::keepBlocks(passes::schedule::Goal goal, std::string_view pipeline, passes::schedule::Choice &choice) {
  if (job_.input.kind != InputKind::Xml || options_.keepBlocks || !job_.target.executor)
    return false;
  ir::DiagnosticEngine silent; // what there is to say has been said, or will be
  ir::Program chosen = job_.program;
  passes::PassManagerOptions passOptions;
  passOptions.target = job_.target;
  passes::PassManager manager(std::move(passOptions), passes::propertiesOf(chosen));
  manager.add(pipeline);
  if (manager.run(chosen, silent).ok)
    return false;
  std::optional<ir::Program> kept = readXmlAgain(options_, job_.input.shownName, job_.program, silent);
  if (!kept)
    return false;
  std::optional<passes::schedule::Meaning> meaning = passes::schedule::meaningOf(*kept, silent);
  goal.passes = pipeline;
  goal.shared = {};
  passes::schedule::Choice other = passes::schedule::choose(*kept, goal);
  if (!meaning || other.tried.empty())
    return false;
  kept->name = job_.program.name;
  job_.program = std::move(*kept);
  meaning_ = std::move(meaning);
  choice = std::move(other);
  return true;
}

/// An error where a plan is not as it would be written for the target: then the target does not run it right.
void Session::reportRewritten(ir::Program given) {
  given.maxMessageSize = job_.program.maxMessageSize; // of messages beyond what any buffer holds nothing is said
  const json::PlanComparison comparison = json::comparePlans(job_.program, given);
  if (comparison.equal())
    return;
  const json::PlanDifference &first = comparison.differences.front();
  diags_.report(diag::plan_rewritten, first.loc, {job_.target.name(), ir::plural(comparison.total, "place")})
      .note(diag::golden_difference, first.loc, {json::describe(first, "the plan as it stands")});
}

ExitCode Session::prove() {
  if (!options_.verify || output_.proof == Proof::None)
    return exitDone;
  const bool ofKernel = output_.proof == Proof::OfKernel;
  times_.mark();
  passes::VerifyOptions options;
  options.warnings = !options_.quiet;
  options.fixedScratch = ofKernel; // a kernel's chunks keep their place at every size
  options.oneSize = ofKernel && options_.messageSize != 0;
  options.threadsInTurns = ofKernel;
  if (meaning_)
    options.atEnd = [this](const passes::proof::FinalBuffers &end) {
      passes::schedule::checkSameResult(*meaning_, end);
    };
  const passes::VerifyResult result = passes::verify(job_.program, diags_, options);
  times_.lap("verify");
  if (output_.proof == Proof::IsOutput || !result.proven)
    job_.result = result.summary();
  return result.proven ? exitDone : exitInputWrong;
}

} // namespace mscclc::driver
