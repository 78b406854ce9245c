#include "compiler/driver.h"

#include "compiler/diagnostics.h"
#include "compiler/guard.h"
#include "compiler/input.h"
#include "compiler/kernel_folder.h"
#include "compiler/overwrite.h"
#include "compiler/session.h"

#ifdef MSCCLC_WITH_FRONTEND
#include "compiler/algorithm.h"
#include "compiler/sweep.h"
#endif

#include <csignal>
#include <iostream>

namespace mscclc::driver {
namespace {

/// Finds out what to do, and starts it.
class Run {
public:
  explicit Run(const Options &options) : options_(options) {
    Session::configure(diags_, options_);
    diags_.setReadable(&readable_);
  }

  ExitCode run() {
    const std::string targetName = options_.target.value_or(std::string(options_.output->target));
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
    std::cerr << Session::render(diags_, options_) << std::flush;
    return exitCodeOf(false, diags_);
  }

  static ExitCode compile(const Options &options, const Input &input, const passes::Target &target, StageTimes times) {
    Session session(options, target);
    const ExitCode code = session.run(input, std::move(times)).code;
    std::cerr << session.messages() << std::flush;
    return code;
  }

#ifdef MSCCLC_WITH_FRONTEND
  /// The types of parameters are known here, so values that mean several can be recognised.
  ExitCode resolve(const Input &input, const passes::Target &target) {
    const auto algorithm = findAlgorithm(options_, input.text, diags_);
    if (diags_.hasErrors())
      return failed();
    if (!algorithm) // loading will say what is wrong
      return compile(options_, input, target, {});
    const auto sweep = Sweep::plan(options_, *algorithm, diags_);
    if (!sweep)
      return failed();
    if (sweep->isOne())
      return compile(sweep->first(), input, target, {});
    return sweep->run(input, target);
  }
#endif

  const Options &options_;
  const ir::ReadableFiles readable_ = readableFiles(options_);
  ir::DiagnosticEngine diags_;
};

} // namespace

int run(const Options &options) {
  // A closed pipe, and a file past its limit, become errors when the output is written.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  return guarded([&] { return Run(options).run(); });
}

} // namespace mscclc::driver
