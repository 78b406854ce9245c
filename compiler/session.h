// One compilation, from input to output.
#pragma once

#include "compiler/driver.h"
#include "compiler/input.h"
#include "compiler/outputs/estimates.h"
#include "compiler/outputs/outputs.h"
#include "compiler/timing.h"
#include "ir/collectives.h"
#include "passes/schedule/meaning.h"
#include "passes/target.h"
#include "passes/verify/verify.h"

namespace mscclc::driver {

/// The result of a session.
struct Outcome {
  ExitCode code = exitDone;
  std::string result;                                     ///< the result in a few words, for people
  std::shared_ptr<const nlohmann::ordered_json> document; ///< the result as JSON; null if there is none
};

class Session {
public:
  /// `inTable`: the caller shows Outcome::result in a table, so the session prints nothing on standard output.
  Session(const Options &options, const passes::Target &target, bool inTable = false);
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  /// Does what the options ask for with `input`. `times`: the stages that were executed before.
  Outcome run(Input input, StageTimes times = {});
  const ir::DiagnosticEngine &diagnostics() const { return diags_; }
  /// Returns the text of --stats and --time-passes.
  const std::string &report() const { return report_; }

  /// Returns the diagnostics in the form that `options` ask for.
  static std::string render(const ir::DiagnosticEngine &diags, const Options &options);
  /// Sets which findings of `diags` are errors, and the limit on errors, as the options say.
  static void configure(ir::DiagnosticEngine &diags, const Options &options);

private:
  /// The steps of a run. A step returns false if it failed, and the run ends.
  bool steps();
  bool load();
  void nameProgram();
  bool schedule();
  std::vector<std::uint64_t> sizesOfSchedules();
  bool transform();
  bool checkMachine();
  bool prove();
  bool writeDependencies();
  bool checkSums(const passes::SumOrder &sums);

  /// The progress of transform(): which passes have run, and which remain.
  struct Progress {
    std::string rest;                       ///< passes that remain: a list for PassManager::add
    std::vector<passes::PassRecord> done{}; ///< records of the passes that have run
  };
  passes::PassManagerOptions passOptions() const;
  bool checkPasses(std::string_view list);
  bool interpret();
  bool choose(const TimedOn &on, Progress &progress);
  bool hasScheduled(const passes::schedule::ChooseOptions &chooseOptions) const;
  passes::schedule::Choice takeScheduled();
  bool keepBlocks(const passes::schedule::ChooseOptions &chooseOptions, passes::schedule::Choice &choice);
  bool runPasses(Progress progress);
  void proveWithPruning(passes::PassManager &manager, std::string_view list, double &seconds);
  void reportPasses(Progress progress, const std::vector<passes::PassRecord> &last);
  passes::VerifyOptions verifyOptions();
  bool isWatched() const;
  /// True if the program is proven. A program whose sums are rounded once is always proven, because the output states
  /// this property. A program with rows is always proven, because the proof finds the rows of each operation.
  bool isProven() const {
    return (options_.verify || narrowsOnce() || ir::info(job_.program.collective.kind).hasRows) &&
           output_.proof != Proof::None;
  }
  bool isSynthesized() const { return job_.input.kind == InputKind::Synthesis; }
  bool narrowsOnce() const { return job_.program.movement.accumulate != ir::Accumulate::Narrow; }
  void settleAccumulate();
  void keepCalls(passes::PassManagerOptions &options);
  void reportRewritten(ir::Program given);

  const Options &options_;
  const Output &output_;
  StageTimes times_;
  const ir::ReadableFiles readable_;
  ir::DiagnosticEngine diags_;
  Job job_;
  std::vector<std::string> files_; ///< files that the input includes
  std::uint64_t recorded_ = 0;
  std::optional<passes::schedule::Meaning> meaning_; ///< the meaning of a program of statements
  std::optional<passes::VerifyResult> proof_;        ///< the proof of the program that is written, once it exists
  std::string report_;
};

} // namespace mscclc::driver
