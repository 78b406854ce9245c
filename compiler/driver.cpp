#include "compiler/driver.h"

#include "compiler/diagnostics.h"
#include "compiler/files.h"
#include "compiler/findings.h"
#include "compiler/guard.h"
#include "compiler/input.h"
#include "compiler/kernel_folder.h"
#include "compiler/outputs/outputs.h"
#include "compiler/overwrite.h"
#include "compiler/session.h"

#ifdef MSCCLC_WITH_FRONTEND
#include "compiler/algorithm.h"
#include "compiler/sweep.h"
#endif

#include <algorithm>
#include <csignal>

namespace mscclc::driver {
namespace {

/// Runs the tool for one input: finds out what the options ask for, and starts it.
class Run {
public:
  Run(const Options &options, Findings &findings) : options_(options), findings_(findings) {
    Session::configure(diags_, options_);
    diags_.setReadable(&readable_);
  }

  ExitCode run() {
    // Only a kernel can choose the number of blocks of a launch. So "none" is the default target of --blocks-by-size.
    const std::string_view usual = options_.blocksBySize ? "none" : options_.output->target;
    const std::string targetName = options_.target.value_or(std::string(usual));
    const auto target = passes::findTarget(targetName);
    if (!target) {
      diags_.report(diag::unknown_target, {}, {targetName, passes::targetNames()});
      return failed();
    }
    if (!checkOutputs(options_, diags_))
      return failed();
    if (isKernelFolder(options_.input))
      return compareKernels(options_, diags_) ? exitDone : failed();
    StageTimes times;
    const auto input = readInput(options_, diags_);
    if (!input)
      return failed();
    if (input->text)
      times.lap("read");
    if (options_.output->subject == Subject::Source)
      return compile(options_, *input, *target, std::move(times));
    if (input->kind != InputKind::Algorithm && !options_.forAlgorithm.empty()) {
      diags_.report(diag::option_needs_algorithm, input->shownName, {options_.forAlgorithm.front()});
      return failed();
    }
    if (input->kind != InputKind::Xml && !options_.forXml.empty()) {
      diags_.report(diag::option_needs_xml, input->shownName, {options_.forXml.front()});
      return failed();
    }
#ifdef MSCCLC_WITH_FRONTEND
    if (input->kind == InputKind::Algorithm && mayBeSweep(options_))
      return resolve(*input, *target);
#endif
    return compile(options_, *input, *target, std::move(times));
  }

private:
  ExitCode failed() {
    findings_.add(options_, diags_);
    return exitCodeOf(false, diags_);
  }

  ExitCode compile(const Options &options, const Input &input, const passes::Target &target, StageTimes times) {
    Session session(options, target);
    const ExitCode code = session.run(input, std::move(times)).code;
    findings_.add(options, session.diagnostics(), session.report());
    return code;
  }

#ifdef MSCCLC_WITH_FRONTEND
  /// Compiles an algorithm. The types of its parameters are known here, so the driver can recognise a value of -P that
  /// means several values.
  ExitCode resolve(const Input &input, const passes::Target &target) {
    const auto algorithm = findAlgorithm(options_, input.text, diags_);
    if (diags_.hasErrors())
      return failed();
    if (!algorithm) // there is no such algorithm, which loading reports
      return compile(options_, input, target, {});
    const auto sweep = Sweep::plan(options_, *algorithm, diags_);
    if (!sweep)
      return failed();
    if (sweep->isOne())
      return compile(sweep->first(), input, target, {});
    return sweep->run(input, target, findings_);
  }
#endif

  const Options &options_;
  Findings &findings_;
  const ir::ReadableFiles readable_ = readableFiles(options_);
  ir::DiagnosticEngine diags_;
};

/// Returns true if the options allow several inputs. Otherwise reports why not.
bool mayTakeSeveral(const Options &options, ir::DiagnosticEngine &diags) {
  const auto takesSeveral = [](const Output &output) { return output.destination != Destination::File; };
  const std::string several = ir::plural(options.inputs.size(), "input");
  const std::string one = !takesSeveral(*options.output) ? std::string(options.output->flag)
                          : options.hasOutputPath        ? "-o"
                          : options.json                 ? "--json"
                                                         : std::string();
  return one.empty() || diags.report(diag::several_inputs, {}, {several, one, flagsOf(takesSeveral)});
}

/// Runs the inputs one after the other. Prints a line with the name of each on standard output. Returns the worst exit
/// code.
ExitCode runAll(const Options &options, Findings &findings) {
  ir::DiagnosticEngine diags;
  if (!mayTakeSeveral(options, diags)) {
    findings.add(options, diags);
    return exitCodeOf(false, diags);
  }
  ExitCode worst = exitDone;
  for (const std::string &input : options.inputs) {
    Options one = options;
    one.input = input;
    if (!writeOut(ir::printable(input) + ":\n", diags)) {
      findings.add(options, diags);
      return exitCodeOf(false, diags);
    }
    worst = std::max(worst, guarded([&] { return Run(one, findings).run(); }));
  }
  return worst;
}

} // namespace

int run(const Options &options) {
  // If the pipe is closed or the file reaches its size limit, writing fails with an error instead of a signal.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  Findings findings(options.findingsForm);
  const ExitCode code =
      guarded([&] { return options.inputs.size() > 1 ? runAll(options, findings) : Run(options, findings).run(); });
  findings.finish(code);
  return code;
}

} // namespace mscclc::driver
