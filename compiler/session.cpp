#include "compiler/session.h"

#include "backend-cuda/emit_kernel.h"
#include "backend-json/compare_plans.h"
#include "backend-json/read_plan.h"
#include "backend-json/write_plan.h"
#include "compiler/diagnostics.h"
#include "compiler/output.h"
#include "compiler/overwrite.h"
#include "compiler/pipeline.h"
#include "compiler/progress.h"
#include "compiler/version.h"
#include "ir/text.h"
#include "passes/analysis/message_limits.h"
#include "passes/simulate/simulate.h"
#include "passes/verify/translation_check.h"
#include "passes/verify/verify.h"

#ifdef MSCCLC_WITH_FRONTEND
#include "compiler/algorithm.h"
#endif

#include <cstdlib>
#include <filesystem>
#include <iostream>

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

/// What an action takes of a program beyond its structure. The proof, a run and a kernel heed data syncs as they stand.
struct Needs {
  std::string_view who;
  passes::Properties properties;
};

Needs needsOf(Action action) {
  switch (action) {
  case Action::EmitIR: // shows what passes do; it may stop anywhere on the way
  case Action::List:
    return {"", 0};
  case Action::EmitCuda:
    return {"a kernel", passes::SingleInstance};
  case Action::Run:
    return {"a run", passes::SingleInstance};
  case Action::Verify:
    return {"the proof", passes::SingleInstance};
  case Action::EmitJson:
  case Action::Diff:
    break;
  }
  return {"a plan", passes::DataSyncLowered | passes::SingleInstance};
}

/// What shaped the program, as emitted sources name it.
std::string shownSwitches(const Options &options, int optLevel) {
  std::string shown = options.hasPasses ? "--passes=" + options.passes : "-O" + std::to_string(optLevel);
  if (!options.stopAfter.empty())
    shown += " --stop-after=" + options.stopAfter;
  for (const std::string &name : options.allowed)
    shown += " --allow=" + name;
  if (options.target)
    shown += " --target=" + *options.target;
  if (!options.algorithm.empty())
    shown += " --algorithm " + options.algorithm;
  for (const auto &[name, value] : options.parameters)
    shown += " -P " + name + "=" + value;
  for (const std::string &argument : options.clangArgs)
    if (argument.rfind("-D", 0) == 0)
      shown += " " + argument;
  if (options.messageSize != 0)
    shown += " --message-size " + std::to_string(options.messageSize);
  return shown;
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
    : options_(options), target_(target), inTable_(inTable) {
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
  ExitCode code = steps(std::move(input));
  if (options_.timePasses && code == exitDone)
    report_ += times_.render(recorded_);
  if (diags_.hasErrors() && code == exitDone)
    code = exitInputWrong;
  if (result_.empty())
    result_ = code == exitDone ? "done" : ir::plural(diags_.numErrors(), "error");
  return {code, result_};
}

ExitCode Session::steps(Input input) {
  if (!checkOutputs(options_, diags_))
    return exitUsage;
  kind_ = input.kind;
  std::vector<std::string> files;
  auto program = loadProgram(options_, std::move(input), diags_, times_, files);
  if (!program || diags_.hasErrors())
    return exitAfterLoading(kind_, diags_);
  program_ = std::move(*program);
  diags_.setSources(&program_.sources);
  if (!checkIncluded(options_, files, diags_))
    return exitUsage;
  if (!options_.name.empty())
    program_.name = options_.name;
  recorded_ = program_.numOps();

  if (const ExitCode code = transform(); code != exitDone)
    return code;
  if (const ExitCode code = prove(); code != exitDone)
    return code;
  switch (options_.action) {
  case Action::Diff:
    return diff();
  case Action::Run:
    return simulate();
  case Action::Verify:
    return exitDone;
  default:
    return write(options_.output);
  }
}

ExitCode Session::transform() {
  passes::PassManagerOptions options;
  options.target = target_;
  options.printBefore = filterOf(options_.printBefore);
  options.printAfter = filterOf(options_.printAfter);
  options.stopAfter = options_.stopAfter;
  options.verifyEach = options_.verifyEach != Options::VerifyEach::Off;
  options.print = [](std::string_view title, std::string_view text) {
    std::cerr << "// " << title << "\n" << text << std::flush;
  };
  if (options_.verifyEach == Options::VerifyEach::Proof)
    options.check = passes::checkTranslation(program_, options_.allowed);
  passes::PassManager manager(std::move(options), passes::propertiesOf(program_));
  std::string wrong = manager.add(options_.hasPasses ? std::string_view(options_.passes) : pipelineOf(optLevel()));
  if (wrong.empty())
    wrong = manager.checkOptions();
  if (!wrong.empty()) {
    diags_.report(diag::bad_pipeline, {}, {wrong});
    return exitUsage;
  }
  const Needs needs = needsOf(options_.action);
  const passes::Properties missing = manager.missing(needs.properties);
  for (const passes::Property property : passes::allProperties)
    if (missing & property)
      diags_.report(diag::action_needs_pass, {}, {needs.who, passes::describe(property), passes::providerOf(property)});
  if (missing != 0)
    return exitUsage;
  times_.mark();
  std::optional<ir::Program> given; // a plan that is proven for a target is proven as it stands
  if (kind_ == InputKind::Plan && options_.action == Action::Verify && target_.executor && optLevel() == 0)
    given = program_;
  const passes::PassRun result = manager.run(program_, diags_);
  if (given && result.ok)
    reportRewritten(std::move(*given));
  for (const passes::PassRecord &record : result.records)
    times_.add(std::string(record.pass), record.seconds * 1e3);
  if (options_.stats)
    report_ += renderStats(result.records);
  return result.ok ? exitDone : exitInputWrong;
}

/// An error where a plan is not as it would be written for the target: then the target does not run it right.
void Session::reportRewritten(ir::Program given) {
  given.maxMessageSize = program_.maxMessageSize; // of messages beyond what any buffer holds nothing is said
  const json::PlanComparison comparison = json::comparePlans(program_, given);
  if (comparison.equal())
    return;
  const json::PlanDifference &first = comparison.differences.front();
  diags_.report(diag::plan_rewritten, first.loc, {target_.name(), ir::plural(comparison.total, "place")})
      .note(diag::golden_difference, first.loc, {json::describe(first, "the plan as it stands")});
}

ExitCode Session::prove() {
  if (!options_.verify || options_.action == Action::EmitIR)
    return exitDone;
  times_.mark();
  passes::VerifyOptions options;
  options.warnings = !options_.quiet;
  options.fixedScratch = options_.action == Action::EmitCuda; // a kernel's chunks keep their place at every size
  options.oneSize = options_.action == Action::EmitCuda && options_.messageSize != 0;
  options.threadsInTurns = options_.action == Action::EmitCuda;
  const passes::VerifyResult result = passes::verify(program_, diags_, options);
  times_.lap("verify");
  if (options_.action == Action::Verify || !result.proven)
    result_ = result.summary();
  if (options_.action == Action::Verify && result.proven)
    return say(ir::printable(program_.name) + ": " + result.summary() + "\n");
  return result.proven ? exitDone : exitInputWrong;
}

ExitCode Session::say(const std::string &text) {
  if (inTable_)
    return exitDone;
  return writeOut(text, diags_) ? exitDone : exitInputWrong;
}

ExitCode Session::write(const std::string &path) {
  std::optional<std::string> text;
  if (options_.action == Action::EmitCuda) {
    if (!(text = kernel()))
      return exitInputWrong;
  } else if (options_.action == Action::EmitIR) {
    ir::print(program_, text.emplace());
  }
  OutputFile output(path);
  if (output.error().empty()) {
    if (text)
      output.stream().write(text->data(), static_cast<std::streamsize>(text->size()));
    else
      json::writePlan(program_, output.stream(), {options_.compact, {}, target_.executor != nullptr});
    times_.lap("write");
    if (output.commit())
      return exitDone;
  }
  diags_.report(diag::cannot_write, {}, {output.error()});
  return exitInputWrong;
}

std::optional<std::string> Session::kernel() {
  cuda::EmitOptions options;
  options.messageSize = options_.messageSize;
  options.toolVersion = std::string("mscclc ") + version();
  options.sourceName =
      options_.input == "-" ? "standard input" : std::filesystem::path(options_.input).filename().string();
  options.switches = shownSwitches(options_, optLevel());
  std::string text;
  if (!cuda::emitKernel(program_, options, text, diags_))
    return std::nullopt;
  times_.lap("emit");
  return text;
}

ExitCode Session::diff() {
  std::optional<ir::Program> golden;
  if (!options_.update) {
    std::string text, error;
    if (!readWhole(options_.golden, text, error, looksLikeText)) {
      diags_.report(diag::cannot_read, {}, {error});
      return exitInputWrong;
    }
    if (!(golden = json::readPlan(text, options_.golden, diags_)))
      return exitInputWrong;
  }
  if (options_.hasOutput)
    if (const ExitCode code = write(options_.output); code != exitDone)
      return code;
  if (options_.update) {
    result_ = "written to " + options_.golden;
    return write(options_.golden);
  }
  if (target_.executor)
    for (ir::Program *program : {&program_, &*golden})
      if (program->maxMessageSize == passes::largestMessage(*program, target_))
        program->maxMessageSize = ir::Program().maxMessageSize; // says how far the target goes, which is no difference
  const json::PlanComparison comparison = json::comparePlans(program_, *golden);
  times_.lap("compare");
  result_ = comparison.equal() ? "equal to " + options_.golden
                               : "differs from " + options_.golden + " in " + ir::plural(comparison.total, "place");
  if (comparison.equal())
    return exitDone;
  std::uint64_t told = 0;
  ir::DiagBuilder report =
      diags_.report(diag::golden_differs, {}, {options_.golden, ir::plural(comparison.total, "place")});
  const std::string shortName = std::filesystem::path(options_.golden).filename();
  for (const json::PlanDifference &difference : comparison.differences) {
    report.note(diag::golden_difference, difference.loc, {json::describe(difference, shortName)});
    if (difference.others != 0)
      report.note(diag::golden_alike, {}, {difference.others});
    told += 1 + difference.others;
  }
  if (told != comparison.total)
    report.note(diag::golden_more, {}, {ir::plural(comparison.total - told, "more difference")});
  return exitInputWrong;
}

ExitCode Session::simulate() {
  bool ok = true;
  for (const std::string &name : options_.runTypes) {
    passes::SimulateOptions options;
    options.sizes = options_.runSizes;
    options.type = *passes::parseDataType(name);
    options.schedules = options_.runSchedules;
    options.seed = options_.seed;
    options.allow(options_.allowed);
    ProgressBar bar("running " + name, !options_.quiet && isatty(STDERR_FILENO) != 0);
    options.progress = [&bar](double share) {
      bar.show(share);
      return true;
    };
    const passes::SimulateResult result = passes::simulate(program_, diags_, options);
    bar.clear();
    ok &= result.ok;
    result_ += (result_.empty() ? "" : "; ") + name + " " + result.summary();
    if (const ExitCode code = say(ir::printable(program_.name) + ", " + name + ", seed " +
                                  std::to_string(options_.seed) + "\n" + result.table());
        code != exitDone)
      return code;
  }
  times_.lap("run on the CPU");
  return ok ? exitDone : exitInputWrong;
}

} // namespace mscclc::driver
