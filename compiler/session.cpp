#include "compiler/session.h"
#include "backend-json/compare_plans.h"
#include "compiler/dependencies.h"
#include "compiler/diagnostics.h"
#include "compiler/kernel_folder.h"
#include "compiler/outputs/blocks_by_size.h"
#include "compiler/outputs/estimates.h"
#include "compiler/overwrite.h"
#include "compiler/rows.h"
#include "compiler/synthesis.h"
#include "ir/switch_signals.h"
#include "passes/analysis/check_executor.h"
#include "passes/pipeline.h"
#include "passes/prune/prune_sync.h"
#include "passes/schedule/choose.h"
#include "passes/schedule/early_hooks.h"
#include "passes/schedule/order_sums.h"
#include "passes/schedule/same_values.h"
#include "passes/schedule/widen_sums.h"
#include "passes/schedule/wire_hops.h"
#include "passes/verify/translation_check.h"
#include "passes/verify/verify.h"
#include "passes/verify/verify_diagnostics.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <utility>

#include <unistd.h>

namespace mscclc::driver {
namespace {

/// Makes kernels the target of a program whose launch is split into two kernels (Program::split). If a plan is
/// requested, reports an error and returns false.
bool settleSplit(Job &job) {
  if (!job.program.split)
    return true;
  if (job.options.output->isPlan || (job.options.target && job.target.executor))
    return job.diags.report(diag::plan_with_split, job.program.collective.loc);
  job.target = {};
  return true;
}

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
  diags.setWarningsAsErrors(options.warningsAreErrors);
  diags.setErrorLimit(options.maxErrors);
}

std::string Session::render(const ir::DiagnosticEngine &diags, const Options &options) {
  const bool color = options.color == ColorMode::Always ||
                     (options.color == ColorMode::Auto && isatty(STDERR_FILENO) && !std::getenv("NO_COLOR"));
  return diags.render(color, !options.quiet);
}

Outcome Session::run(Input input, StageTimes times) {
  times_ = std::move(times);
  job_.input = std::move(input);
  const bool isDone = steps();
  if (options_.timePasses && isDone && output_.subject == Subject::Program)
    report_ += times_.render(recorded_);
  const ExitCode code = exitCodeOf(isDone, diags_);
  if (job_.result.empty())
    job_.result = code == exitDone ? "done" : ir::plural(diags_.numErrors(), "error");
  return {code, job_.result, job_.document};
}

bool Session::steps() {
  if (!checkOutputs(options_, diags_))
    return false;
  if (output_.subject == Subject::Source)
    return output_.write(job_) && writeDependencies();
  if (!isSynthesized() && !load())
    return false;
  const std::vector<std::uint64_t> sizes = sizesOfSchedules();
  if (diags_.hasErrors())
    return false;
  if (sizes.empty())
    return schedule() && writeDependencies();
  const ir::Program given = job_.program;
  for (const std::uint64_t &bytes : sizes) {
    job_.program = given;
    job_.chosen.reset();
    job_.proof = nullptr;
    meaning_.reset();
    proof_.reset();
    job_.each = {bytes, &bytes == &sizes.back()};
    if (!schedule())
      return false;
  }
  return writeDependencies();
}

/// Returns the message sizes for which the program is scheduled separately; empty if one schedule is used for all.
std::vector<std::uint64_t> Session::sizesOfSchedules() {
  const bool isScheduled = isSynthesized() || !job_.program.movement.statements.empty();
  if (!output_.schedulesEach || options_.messageSize != 0 || options_.hasPasses || !isScheduled)
    return {};
  return options_.messageSizes.empty() ? timedSizes(job_) : options_.messageSizes;
}

/// Runs the passes and the proof, and writes the output. A synthesis makes its program here, as each size may have
/// another algorithm.
bool Session::schedule() {
  if (isSynthesized() && !load())
    return false;
  for (const auto step : {&Session::transform, &Session::checkMachine, &Session::prove})
    if (!(this->*step)())
      return false;
  if (output_.pointToPoint && ir::hasSwitchSignals(job_.program))
    job_.program = ir::spellOutSwitchSignals(job_.program, verifyOptions().threadsInTurns ? ir::SpelledBy::ThreadEach
                                                                                          : ir::SpelledBy::OneThread);
  return !diags_.hasErrors() && output_.write(job_);
}

bool Session::writeDependencies() {
  return !options_.writeDependencies || job_.writeFile(dependencyFile(options_), [&](std::ostream &stream) {
    stream << dependencyRule(options_, files_);
  });
}

bool Session::load() {
  // The text may have gigabytes. It is moved out of the job, so that its memory is released after loading.
  Input input{job_.input.shownName, job_.input.kind, std::exchange(job_.input.text, std::nullopt)};
  std::optional<ir::Program> program =
      isSynthesized() ? synthesize(job_) : loadProgram(options_, std::move(input), diags_, times_, files_);
  if (!program || diags_.hasErrors())
    return false;
  job_.program = std::move(*program);
  diags_.setSources(&job_.program.sources);
  if (!checkIncluded(options_, files_, diags_))
    return false;
  nameProgram();
  if (isSynthesized() && output_.keepsCalls)
    job_.synthesized = job_.program;
  return settleSplit(job_) && settleRows(job_);
}

void Session::nameProgram() {
  if (!options_.name.empty())
    job_.program.name = options_.name;
  recorded_ = job_.program.numOps() + job_.program.movement.statements.size();
}

passes::PassManagerOptions Session::passOptions() const {
  passes::PassManagerOptions options;
  options.target = job_.passTarget();
  options.printBefore = filterOf(options_.printBefore);
  options.printAfter = filterOf(options_.printAfter);
  options.stopAfter = options_.stopAfter;
  options.passLimit = options_.passLimit;
  options.verifyEach = options_.verifyEach != Options::VerifyEach::Off;
  options.print = [](std::string_view title, std::string_view text) {
    std::cerr << "// " << title << "\n" << text << std::flush;
  };
  return options;
}

bool Session::transform() {
  for (const auto &[option, outputs] : options_.forScheduling)
    if (job_.program.schedule == ir::Schedule::Manual)
      diags_.report(diag::nothing_to_schedule, {}, {option, outputs});
  if (diags_.hasErrors())
    return false;
  const std::optional<TimedOn> on = namedMachine(job_);
  if (!on)
    return false;
  job_.machine = on->machine;
  job_.mostBlocks = job_.program.movement.mostBlocks;
  const bool schedules = !job_.program.movement.statements.empty();
  Progress progress{.rest = options_.hasPasses ? options_.passes
                                               : passes::pipeline(job_.optLevel(), schedules ? passes::Stage::Place
                                                                                             : passes::Stage::Tidy)};
  if (!checkPasses(progress.rest))
    return false;
  times_.mark();
  if (schedules)
    if (!interpret())
      return false;
  if (schedules && !options_.hasPasses) {
    if (job_.target.executor && !passes::checkCallsNoFunctions(job_.program, job_.target.name(), diags_))
      return false;
    if (takes(output_, "--machine") && !checkRunsOn(job_, *on, /*isAsked=*/true))
      return false;
    if (!choose(*on, progress))
      return false;
  }
  return runPasses(std::move(progress));
}

/// Checks that the passes of `list` can run, provide what the output needs, and include all passes that options name.
/// Otherwise reports an error and returns false.
bool Session::checkPasses(std::string_view list) {
  passes::PassManager manager(passOptions(), passes::propertiesOf(job_.program));
  std::string wrong = manager.add(list);
  if (wrong.empty())
    wrong = manager.checkOptions();
  if (!wrong.empty())
    return diags_.report(diag::bad_pipeline, {}, {wrong});
  const passes::Properties missing = manager.missing(output_.needs);
  for (const passes::Property property : passes::allProperties)
    if (missing & property)
      diags_.report(diag::action_needs_pass, {},
                    {output_.consumer, passes::describe(property), passes::providerOf(property)});
  return missing == 0;
}

/// Computes the meaning of the statements, and reports its errors. Does nothing if --passes is given and the program is
/// not proven, because then passes may be tried on statements that form no collective.
bool Session::interpret() {
  const bool isFixed = ir::isFixed(job_.program.movement.order);
  if (options_.hasPasses && !isProven() && !isFixed && !ir::wireOf(job_.program))
    return true;
  ir::DiagnosticEngine silent;
  const std::vector<std::string_view> named = passes::splitNames(options_.passes);
  const bool isSaid = std::ranges::find(named, "check-meaning") != named.end(); // that pass reports it
  meaning_ = passes::schedule::meaningOf(job_.program, isSaid ? silent : diags_);
  if (meaning_ && (isFixed || narrowsOnce() || ir::wireOf(job_.program))) {
    if (!passes::schedule::orderSums(job_.program, diags_) ||
        !passes::schedule::widenSums(job_.program, job_.target.executor != nullptr, diags_) ||
        !passes::schedule::placeWire(job_.program, diags_))
      return false;
    meaning_ = passes::schedule::meaningOf(job_.program, ir::wireOf(job_.program) ? diags_ : silent);
    if (diags_.hasErrors())
      return false;
  }
  if (meaning_)
    passes::schedule::applyEarly(job_.program);
  times_.lap("meaning");
  return meaning_ || isSaid;
}

/// Runs the passes that remain after the choice.
bool Session::runPasses(Progress progress) {
  passes::PassManagerOptions options = passOptions();
  if (options_.verifyEach == Options::VerifyEach::Proof)
    options.check = passes::checkTranslation(job_.program, options_.allowed);
  if (output_.keepsCalls)
    keepCalls(options);
  passes::PassManager manager(std::move(options), passes::propertiesOf(job_.program));
  double proving = 0;
  proveWithPruning(manager, progress.rest, proving);
  manager.add(progress.rest);
  std::optional<ir::Program> given; // set if passes must not change the given plan, because it is proven for a target
  if (job_.input.kind == InputKind::Plan && output_.proof == Proof::IsOutput && job_.target.executor &&
      job_.optLevel() == 0)
    given = job_.program;
  passes::PassRun result = manager.run(job_.program, diags_);
  if (given && result.ok)
    reportRewritten(std::move(*given));
  if (proof_)
    std::ranges::find(result.records, "prune-sync", &passes::PassRecord::pass)->seconds -= proving;
  reportPasses(std::move(progress), result.records);
  if (proof_)
    times_.add("verify", proving * 1e3);
  return result.ok;
}

void Session::reportPasses(Progress progress, const std::vector<passes::PassRecord> &last) {
  std::vector<passes::PassRecord> records = std::move(progress.done);
  records.insert(records.end(), last.begin(), last.end());
  for (const passes::PassRecord &record : records)
    times_.add(std::string(record.pass), record.seconds * 1e3);
  if (options_.stats)
    report_ += renderStats(records);
}

/// Makes prune-sync drop sync without a proof where this is enough (Output::prunesUnproven). Otherwise makes it use the
/// session's proof to decide which syncs it may drop. The proof runs on the final program, after all passes that follow
/// prune-sync, so the program is not proven a second time. Does nothing if an option needs the program between passes,
/// because then passes run one by one. Does nothing for kernels either, because their proof shows less than passes rely
/// on. `seconds` receives the time of the proof.
void Session::proveWithPruning(passes::PassManager &manager, std::string_view list, double &seconds) {
  static constexpr std::string_view pruning = "prune-sync";
  const std::size_t at = list.find(pruning);
  if (isWatched() || at == std::string_view::npos || list.find(pruning, at + 1) != std::string_view::npos)
    return;
  if (!options_.verify && !options_.hasPasses && output_.prunesUnproven)
    return manager.use(pruning, passes::createUnprovenPruneSyncPass());
  if (!isProven() || output_.proof == Proof::OfKernel)
    return;
  const std::size_t end = std::min(list.find(',', at), list.size());
  auto prover = [this, &seconds,
                 rest = std::string(list.substr(std::min(end + 1, list.size())))](const ir::Program &pruned) {
    const auto start = std::chrono::steady_clock::now();
    ir::DiagnosticEngine findings;
    ir::Program written = pruned;
    passes::PassManager fitting(passOptions(), passes::propertiesOf(written));
    fitting.add(rest);
    if (fitting.run(written, findings).ok)
      proof_ = passes::verify(written, findings, verifyOptions());
    if (findings.hasErrors() || findings.numWarnings() != 0)
      proof_.reset();
    if (proof_)
      seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return proof_.has_value();
  };
  manager.use(pruning, passes::createPruneSyncPass(std::move(prover)));
}

/// Keeps a copy of the program in Job::calls at the moment when no statement is left, before passes change its thread
/// blocks.
void Session::keepCalls(passes::PassManagerOptions &options) {
  job_.calls = job_.program;
  options.check = [this, next = std::move(options.check)](std::string_view pass, const ir::Program &program,
                                                          ir::DiagnosticEngine &diags) {
    if (!job_.calls.movement.statements.empty() && program.movement.statements.empty())
      job_.calls = program;
    return !next || next(pass, program, diags);
  };
}

/// Makes the choices that a program of statements leaves open. Afterwards, some passes may already have run on the
/// program. Their time is not counted as time of the choice.
bool Session::choose(const TimedOn &on, Progress &progress) {
  const std::uint64_t given = job_.givenSize(), bytes = sizeToSchedule(job_);
  if (given != 0 && (given < job_.program.minMessageSize || given > job_.program.maxMessageSize))
    return diags_.report(diag::message_size_not_taken, {},
                         {given, nearestSize(job_.program, 1), job_.program.maxMessageSize});
  // With --blocks-by-size, each launch chooses its number of instances, so the schedule has one instance. This excludes
  // programs of several nodes, because they have ports.
  if (options_.blocksBySize && on.runner == passes::time::Runner::Kernel &&
      passes::time::namedNodes(job_.program) == 1 && whyOneInstance(job_.program).empty() &&
      job_.program.movement.chooseInstances) {
    job_.program.movement.chooseInstances = false;
    job_.program.instances = 1;
    job_.scheduled.reset(); // the schedule of the synthesis may have more instances
  }
  const bool anyProtocol = job_.program.movement.chooseProtocol, anyInstances = job_.program.movement.chooseInstances;
  const passes::schedule::ChooseOptions chooseOptions = chooseOptionsOf(job_, on, bytes, /*keeps=*/!isWatched());
  std::vector<passes::schedule::TimeByBlocks> byBlocks;
  if (output_.comparesBlocks)
    byBlocks = passes::schedule::timesByBlocks(job_.program, chooseOptions);
  passes::schedule::Choice choice =
      hasScheduled(chooseOptions) ? takeScheduled() : passes::schedule::choose(job_.program, chooseOptions);
  const bool keeps = choice.tried.empty() && keepBlocks(chooseOptions, choice);
  if (!choice.done.empty())
    progress = {passes::pipeline(passes::maxOptLevel, passes::Stage::Prune), std::exchange(choice.done, {})};
  double seconds = 0;
  for (const passes::PassRecord &record : progress.done)
    seconds += record.seconds;
  times_.lap("choose", seconds * 1e3);
  if (options_.stats)
    report_ += "choose: " + ir::plural(choice.candidates, "candidate") + ", " + std::to_string(choice.refused) +
               " refused; " +
               (choice.nanoseconds == 0 ? "not timed"
                                        : std::to_string(static_cast<std::uint64_t>(choice.nanoseconds)) + " ns for " +
                                              ir::plural(bytes, "byte")) +
               "\n";
  job_.chosen = {std::move(choice), anyProtocol,        anyInstances && !keeps, on.machine, on.runner, bytes, keeps,
                 job_.input.kind,   std::move(byBlocks)};
  return true;
}

/// True if the schedule of the synthesis can be used: it is for the same message size, and no option needs the program
/// between passes.
bool Session::hasScheduled(const passes::schedule::ChooseOptions &chooseOptions) const {
  return job_.scheduled && chooseOptions.keeps && job_.scheduled->messageBytes == chooseOptions.messageBytes;
}

/// Replaces the program by the one that synthesis has scheduled, and returns its choices. The time of its passes is not
/// counted again, because it is part of the time of synthesis.
passes::schedule::Choice Session::takeScheduled() {
  passes::schedule::ScheduledProgram taken = std::move(*std::exchange(job_.scheduled, std::nullopt));
  for (passes::PassRecord &record : taken.choice.done)
    record.seconds = 0;
  taken.program.name = job_.program.name;
  job_.program = std::move(taken.program);
  return std::move(taken.choice);
}

/// True if an option needs the program between passes. Then all passes run one by one.
bool Session::isWatched() const {
  return !options_.printBefore.empty() || !options_.printAfter.empty() || !options_.stopAfter.empty() ||
         options_.passLimit || options_.verifyEach != Options::VerifyEach::Off || output_.keepsCalls;
}

/// If no choice fits the executor, tries the thread blocks that the XML schedule itself names. If these fit, the
/// program gets them, `choice` is replaced by the choice for them, and the function returns true.
bool Session::keepBlocks(const passes::schedule::ChooseOptions &chooseOptions, passes::schedule::Choice &choice) {
  if (job_.input.kind != InputKind::Xml || options_.keepBlocks || !job_.target.executor)
    return false;
  ir::DiagnosticEngine silent; // drops findings that are reported elsewhere
  std::optional<ir::Program> kept = readXmlAgain(options_, job_.input.shownName, job_.program, silent);
  std::optional<passes::schedule::Meaning> meaning;
  if (!kept || !(meaning = passes::schedule::meaningOf(*kept, silent)))
    return false;
  kept->name = job_.program.name;
  choice = passes::schedule::choose(*kept, chooseOptions);
  if (choice.tried.empty())
    return false;
  job_.program = std::move(*kept);
  meaning_ = std::move(meaning);
  return true;
}

/// Reports if the program cannot run on the machine for which the choices were made. Does nothing for an output that
/// takes --machine, because it reports this itself. Does nothing either if the output goes to the terminal only and
/// --machine is not given.
bool Session::checkMachine() {
  const bool matters = options_.hasMachine || output_.destination != Destination::Terminal;
  if (!job_.chosen || takes(output_, "--machine") || !matters)
    return true;
  return checkRunsOn(job_, {job_.chosen->machine, job_.chosen->runner}, options_.hasMachine);
}

/// Reports an error if the passes for the target have changed the given plan, because then the target would not run the
/// plan correctly as it is.
void Session::reportRewritten(ir::Program given) {
  given.maxMessageSize = job_.program.maxMessageSize; // a changed message limit is not reported
  const json::PlanComparison comparison = json::comparePlans(job_.program, given);
  if (comparison.equal())
    return;
  const json::PlanDifference &first = comparison.differences.front();
  diags_.report(diag::plan_rewritten, first.loc, {job_.target.name(), ir::plural(comparison.total, "place")})
      .note(diag::golden_difference, first.loc, {json::describe(first, "the plan as it stands")});
}

bool Session::prove() {
  if (!isProven())
    return true;
  times_.mark();
  settleAccumulate();
  if (!proof_) {
    proof_ = passes::verify(job_.program, diags_, verifyOptions());
    times_.lap("verify");
  }
  if (output_.proof == Proof::IsOutput || !proof_->proven)
    job_.result = proof_->summary();
  job_.proof = &*proof_;
  if (!proof_->proven || !checkSums(proof_->sums))
    return false;
  if (proof_->sums.any)
    job_.sums = proof_->sums.isInvariant() ? proof_->sums.exact : std::string(sumsDiffer);
  if (output_.proof == Proof::IsOutput && proof_->sums.any)
    job_.result +=
        job_.inTable ? "; order of sums: " + std::string(proof_->sums.family()) : "\n" + proof_->sums.sentence();
  return chooseOncePerRank(job_);
}

/// Checks, for a program of thread blocks, whether each sum is rounded only once although scratch holds elements in
/// their own type. If not, scratch must hold wider elements, which no executor supports.
void Session::settleAccumulate() {
  ir::Accumulate &accumulate = job_.program.movement.accumulate;
  if (accumulate != ir::Accumulate::Wide || meaning_)
    return;
  const bool onExecutor = job_.target.executor != nullptr;
  ir::DiagnosticEngine silent;
  accumulate = ir::Accumulate::Once;
  proof_ = passes::verify(job_.program, onExecutor ? diags_ : silent, verifyOptions());
  times_.lap("verify");
  if (proof_->proven || onExecutor)
    return;
  accumulate = ir::Accumulate::Wide;
  proof_.reset();
}

/// Reports sums whose bits differ between ranks or chunks although they should not. For a plan or a schedule from
/// another tool, a difference may be intended. Sums of integers have no order.
bool Session::checkSums(const passes::SumOrder &sums) {
  const bool isVerify = output_.proof == Proof::IsOutput;
  const bool invariant = isVerify && options_.outputValue == "invariant";
  const bool demanded = invariant || (isVerify && options_.outputValue == "consistent");
  const bool fromElsewhere = job_.input.kind == InputKind::Plan || job_.input.kind == InputKind::Xml;
  const auto isInteger = [](const std::string &type) { return type[0] == 'i' || type[0] == 'u'; };
  if (output_.proof == Proof::OfKernel && !options_.types.empty() && std::ranges::all_of(options_.types, isInteger))
    return true;
  if (sums.ranksDiffer)
    passes::reportSums(!fromElsewhere ? passes::proof::diag::ranks_differ
                       : demanded     ? passes::proof::diag::ranks_differ_here
                                      : passes::proof::diag::ranks_may_differ,
                       *sums.ranksDiffer, diags_);
  const ir::Program &program = job_.program;
  // A custom collective may sum different inputs in each chunk.
  if (const bool mayDiffer = program.collective.kind == ir::CollectiveKind::Custom;
      ir::isFixed(program.movement.order) && (mayDiffer ? sums.ranksDiffer : sums.chunksDiffer))
    passes::reportSums(passes::proof::diag::order_not_kept, mayDiffer ? *sums.ranksDiffer : *sums.chunksDiffer, diags_);
  if (invariant && sums.chunksDiffer && !diags_.hasErrors())
    passes::reportSums(passes::proof::diag::sums_differ, *sums.chunksDiffer, diags_);
  if (diags_.hasErrors())
    job_.result = sums.ranksDiffer ? "ranks end with different bits" : "not invariant";
  return !diags_.hasErrors();
}

passes::VerifyOptions Session::verifyOptions() {
  const bool ofKernel = output_.proof == Proof::OfKernel;
  passes::VerifyOptions options;
  options.warnings = !options_.quiet || options_.warningsAreErrors;
  options.fixedScratch = ofKernel; // in a kernel, a chunk of scratch has the same place at every message size
  options.oneSize = ofKernel && options_.messageSize != 0;
  options.threadsInTurns = ofKernel;
  const passes::ExecutorLimits *executor = job_.target.executor;
  options.residency = {job_.machine.name, !options_.hasMachine, passes::threadsOfBlock(job_.program, executor),
                       passes::residentBlocks(job_.program, job_.machine.gpu(), executor)};
  job_.outputSums.reset();
  if (meaning_ || output_.keepsSums)
    options.atEnd = [this](const passes::proof::FinalBuffers &end) {
      if (meaning_)
        passes::schedule::checkSameResult(*meaning_, end);
      if (!output_.keepsSums)
        return;
      if (job_.outputSums)
        passes::keepCommon(*job_.outputSums, passes::outputSums(end));
      else
        job_.outputSums = passes::outputSums(end);
    };
  return options;
}

} // namespace mscclc::driver
