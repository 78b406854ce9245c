// One compilation, from input to what the action asks for.
#pragma once

#include "compiler/driver.h"
#include "compiler/input.h"
#include "compiler/timing.h"
#include "passes/target.h"

namespace mscclc::driver {

/// What a session came to.
struct Outcome {
  ExitCode code = exitDone;
  std::string result; ///< in a few words
};

class Session {
public:
  /// `inTable`: results are Outcome::result alone; standard output is left to who asks for them.
  Session(const Options &options, const passes::Target &target, bool inTable = false);
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  /// Does what the options ask for, with `input`. `times`: of what was done before.
  Outcome run(Input input, StageTimes times = {});
  /// What there is to say on standard error.
  std::string messages() const { return render(diags_, options_) + report_; }

  /// Diagnostics as `options` want them shown.
  static std::string render(const ir::DiagnosticEngine &diags, const Options &options);
  /// Prepares `diags` for them.
  static void configure(ir::DiagnosticEngine &diags, const Options &options);

private:
  ExitCode steps(Input input);
  /// Every step returns an exit code; the first that is not exitDone ends the run.
  ExitCode transform();
  ExitCode prove();
  ExitCode diff();
  ExitCode simulate();
  void reportRewritten(ir::Program given);
  ExitCode write(const std::string &path);
  /// A result in words, on standard output.
  ExitCode say(const std::string &text);
  int optLevel() const { return options_.optLevel.value_or(kind_ == InputKind::Plan ? 0 : 1); }
  /// The text of the kernel, or nothing after errors.
  std::optional<std::string> kernel();

  const Options &options_;
  const passes::Target target_;
  const bool inTable_;
  StageTimes times_;
  const ir::ReadableFiles readable_ = readableFiles(options_);
  ir::DiagnosticEngine diags_;
  ir::Program program_;
  InputKind kind_ = InputKind::Auto;
  std::uint64_t recorded_ = 0;
  std::string report_, result_;
};

/// The exit code after errors of a front end: its word on whether they are of the command line.
ExitCode exitAfterLoading(InputKind kind, const ir::DiagnosticEngine &diags);

} // namespace mscclc::driver
