#include "compiler/driver.h"

#include "backend-json/compare_plans.h"
#include "backend-json/read_plan.h"
#include "backend-json/write_plan.h"
#include "compiler/diagnostics.h"
#include "compiler/input.h"
#include "compiler/output.h"
#include "compiler/pipeline.h"
#include "compiler/timing.h"
#include "compiler/version.h"
#include "ir/internal_error.h"
#include "ir/text.h"

#ifdef MSCCLC_WITH_FRONTEND
#include "compiler/algorithm.h"
#endif

#include <csignal>
#include <cstdio>
#include <iostream>
#include <new>

#include <unistd.h>

namespace mscclc::driver {
namespace {

passes::PassFilter filterOf(const std::string &name) {
  passes::PassFilter filter;
  filter.all = name == "all";
  if (!name.empty() && !filter.all)
    filter.names.insert(name);
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

/// One run. Every step returns false once errors are reported; finish() prints them.
class Session {
public:
  explicit Session(const Options &options) : options_(options) {}

  int run() {
    const ExitCode code = steps();
    const bool color = options_.color == ColorMode::Always ||
                       (options_.color == ColorMode::Auto && isatty(STDERR_FILENO) && !std::getenv("NO_COLOR"));
    std::cerr << diags_.render(color, !options_.quiet) << report_ << std::flush;
    return diags_.hasErrors() && code == exitDone ? exitInputWrong : code;
  }

private:
  ExitCode steps() {
    const auto target = passes::findTarget(options_.target);
    if (!target) {
      diags_.report(diag::unknown_target, {}, {options_.target, passes::targetNames()});
      return exitUsage;
    }
    if (options_.action == Action::List)
      return list();

    auto program = loadProgram(options_, diags_, times_, kind_);
    if (!program || diags_.hasErrors())
      return exitInputWrong;
    program_ = std::move(*program);
    diags_.setSources(&program_.sources);
    if (!options_.name.empty())
      program_.name = options_.name;
    recorded_ = program_.numOps();

    if (const ExitCode code = transform(*target); code != exitDone)
      return code;
    const ExitCode code = act();
    if (options_.timePasses)
      report_ += times_.render(recorded_);
    return code;
  }

  ExitCode list() {
#ifdef MSCCLC_WITH_FRONTEND
    return listAlgorithms(options_, diags_) ? exitDone : exitInputWrong;
#else
    diags_.report(diag::no_front_end, options_.input);
    return exitInputWrong;
#endif
  }

  ExitCode transform(const passes::Target &target) {
    passes::PassManagerOptions options;
    options.target = target;
    options.printBefore = filterOf(options_.printBefore);
    options.printAfter = filterOf(options_.printAfter);
    options.stopAfter = options_.stopAfter;
    options.verifyEach = options_.verifyEach != Options::VerifyEach::Off;
    options.print = [](std::string_view title, std::string_view text) {
      std::cerr << "; " << title << "\n" << text << std::flush;
    };
    passes::PassManager manager(std::move(options), passes::propertiesOf(program_));
    const int level = options_.optLevel.value_or(kind_ == InputKind::Plan ? 0 : 1);
    std::string wrong = manager.add(options_.hasPasses ? std::string_view(options_.passes) : pipelineOf(level));
    if (wrong.empty())
      wrong = manager.checkOptions();
    if (!wrong.empty()) {
      diags_.report(diag::bad_pipeline, {}, {wrong});
      return exitUsage;
    }
    times_.mark();
    const passes::PassRun result = manager.run(program_, diags_);
    for (const passes::PassRecord &record : result.records)
      times_.add(std::string(record.pass), record.seconds * 1e3);
    if (options_.stats)
      report_ += renderStats(result.records);
    return result.ok ? exitDone : exitInputWrong;
  }

  ExitCode act() {
    switch (options_.action) {
    case Action::Diff:
      return diff();
    default:
      return write(options_.output);
    }
  }

  ExitCode write(const std::string &path) {
    OutputFile output(path);
    if (output.error().empty()) {
      if (options_.action == Action::EmitIR) {
        std::string text;
        ir::print(program_, text);
        output.stream().write(text.data(), static_cast<std::streamsize>(text.size()));
      } else {
        json::writePlan(program_, output.stream(), {options_.compact, {}});
      }
      times_.lap("write");
      if (output.commit())
        return exitDone;
    }
    diags_.report(diag::cannot_write, {}, {output.error()});
    return exitInputWrong;
  }

  ExitCode diff();

  const Options &options_;
  StageTimes times_;
  ir::DiagnosticEngine diags_;
  ir::Program program_;
  InputKind kind_ = InputKind::Auto;
  std::uint64_t recorded_ = 0;
  std::string report_;
};

ExitCode Session::diff() {
  if (options_.update)
    return write(options_.golden);
  std::string text, error;
  if (!readWhole(options_.golden, text, error)) {
    diags_.report(diag::cannot_read, {}, {error});
    return exitInputWrong;
  }
  const auto golden = json::readPlan(text, options_.golden, diags_);
  if (!golden)
    return exitInputWrong;
  const json::PlanComparison comparison = json::comparePlans(program_, *golden);
  times_.lap("compare");
  if (comparison.equal())
    return exitDone;
  report_ += json::renderDifferences(comparison, program_, options_.golden);
  diags_.report(diag::golden_differs, {}, {options_.golden, ir::plural(comparison.total, "place")});
  return exitInputWrong;
}

int internalError(const std::string &what) {
  std::cerr << "mscclc: internal error: " << what << "\n"
            << "This is a fault of mscclc " << version()
            << ". Please report it with the input and the command line; --print-after-all shows how far it came.\n";
  return exitInternal;
}

} // namespace

int run(const Options &options) {
  std::signal(SIGPIPE, SIG_IGN); // a closed pipe is an error of the output, found when it is written
  try {
    return Session(options).run();
  } catch (const ir::InternalError &e) {
    return internalError(e.what());
  } catch (const std::bad_alloc &) {
    std::cerr << "mscclc: error: out of memory\n";
    return exitInputWrong;
  } catch (const std::exception &e) {
    return internalError(e.what());
  }
}

} // namespace mscclc::driver
