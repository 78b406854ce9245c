// The outputs of mscclc. The table outputs.def has a row for each output: its flag, what it requires of a program, and
// its destination. The driver, the exclusions of options and --help read the table. To add an output, add a row to the
// table and a file with its writer to this folder.
#pragma once

#include "compiler/driver.h"
#include "compiler/input.h"
#include "compiler/options.h"
#include "compiler/timing.h"
#include "ir/diagnostics.h"
#include "ir/program.h"
#include "passes/pass_manager.h"
#include "passes/row_counts.h"
#include "passes/schedule/choose.h"
#include "passes/target.h"
#include "passes/time/estimate.h"
#include "passes/verify/sum_steps.h"

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace mscclc::passes {
struct VerifyResult;
}

namespace mscclc::driver {

/// The object from which an output is made.
enum class Subject {
  Program, ///< the program, transformed and proven
  Source,  ///< the input, unchanged; nothing is loaded
};

/// The proof that is made before an output is written, unless --no-verify is given.
enum class Proof {
  None,     ///< no proof: the program is shown as the passes leave it
  OfPlan,   ///< proves the program as the MSCCL++ executor runs it
  OfKernel, ///< proves the program as an emitted kernel runs it
  IsOutput, ///< proves the same as OfPlan; the output is the result of the proof
};

/// The destination of an output.
enum class Destination {
  File,      ///< the file of -o, or standard output without -o
  Terminal,  ///< standard output, as text for people; -o is refused
  OnlyNamed, ///< the file of -o; without -o, nothing is written
};

/// The effect on an output if a value of -P stands for several values.
enum class Combinations {
  Refused,      ///< several values are an error
  Rows,         ///< the output is a table with a row for each value
  RowsOfFolder, ///< as Rows; the value of the flag is a folder with a file for each value
};

/// The choices for a program of statements, and the launch for which they were made.
struct Chosen {
  passes::schedule::Choice choice;
  bool anyProtocol = false, anyInstances = false; ///< true if the program leaves this choice to the compiler
  passes::time::Machine machine;
  passes::time::Runner runner = passes::time::Runner::Executor;
  std::uint64_t bytes = 0; ///< message size, in bytes
  bool keepsBlocks =
      false; ///< thread blocks are those of a schedule in XML, because the target does not accept chosen ones
  InputKind input = InputKind::Auto;                         ///< kind of the input
  std::vector<passes::schedule::TimeByBlocks> byBlocks = {}; ///< only for an output that compares numbers of blocks
};

/// An estimate, and the schedule whose time it is.
struct TimedSchedule {
  std::string program; ///< the program's name
  passes::time::Estimate estimate;
  std::uint32_t blocks = 0;                                      ///< the most thread blocks of a rank
  std::optional<passes::schedule::ScheduleChoices> choices = {}; ///< nothing if the program leaves nothing to choose
  std::optional<passes::time::Time> published = {};              ///< time that NCCL takes, in nanoseconds
};

/// The data that the writer of an output receives.
struct Job {
  const Options &options;
  passes::Target target; ///< the target of the options; none if only kernels can run the program
  ir::DiagnosticEngine &diags;
  StageTimes &times;
  bool inTable = false;     ///< the job is one of several combinations: say() prints nothing, because `result` is shown
  Input input = {};         ///< the input; `input.text` is emptied when `program` is loaded
  ir::Program program = {}; ///< empty for an output that needs only the source
  /// The program when it first had thread blocks, before any pass changed them, for an output with keepsCalls.
  ir::Program calls = {};
  std::optional<ir::Program> synthesized = {}; ///< statements that --synthesize made, for an output with keepsCalls
  /// The program that --synthesize scheduled for its comparison. The session uses this schedule if it fits.
  std::optional<passes::schedule::ScheduledProgram> scheduled = {};
  passes::time::Machine machine = {}; ///< machine of --machine, or the default one; set when `program` is loaded
  std::optional<Chosen> chosen = {};  ///< the choices for a program of statements
  std::uint32_t mostBlocks = 0; ///< limit on the thread blocks of a rank that a program of statements sets; 0: no limit
  const passes::VerifyResult *proof = nullptr; ///< the proof of `program`; null if it was not proven
  /// The message size (bytes) of the current schedule, and whether it is the last of the sizes. Nothing unless the
  /// output schedules the program for each size separately.
  struct Each {
    std::uint64_t bytes = 0;
    bool isLast = false;
  };
  std::optional<Each> each = {};
  std::vector<TimedSchedule> timed = {};                        ///< the estimates for all sizes up to the current one
  std::vector<std::string> launches = {};                       ///< data of the launches in `timed` for a page, in JSON
  std::optional<passes::OutputSums> outputSums = {};            ///< the trees of sums that the proof found, for --run
  std::optional<passes::RowCounts> counts = {};                 ///< counts of rows that --counts gives
  std::uint64_t rowBytes = 0;                                   ///< bytes of a row, from --rows; 0: not known
  std::uint32_t choices = passes::time::LiveRows::usualChoices; ///< number of experts of a row, from --rows
  /// The times of a launch if rows go once to each expert, and if they go once to each rank. Nothing if these were not
  /// compared.
  struct OncePerRankTimes {
    passes::time::Time without = 0, with = 0; ///< nanoseconds
  };
  std::optional<OncePerRankTimes> oncePerRank = {};
  std::string sums = {};   ///< SumOrder::exact if the program is invariant, else a description in words; see prove()
  std::string result = {}; ///< the result in a few words; for Proof::IsOutput, the result of the proof
  /// The document that say() received while `inTable`; null if it received none.
  std::shared_ptr<const nlohmann::ordered_json> document = {};

  /// Returns the message size that options give to schedule for, in bytes; 0 if they give none.
  std::uint64_t givenSize() const;
  /// Returns the optimization level: that of the options, or a default. The default for a plan is 0, so that it stays
  /// as it is. The default is 1 if the user's program states its own sync. It is 2 if the compiler made the sync, and
  /// for kernels, which are not compared with the output of another tool. A program that is proven or estimated with
  /// --target=none counts as a kernel.
  int optLevel() const;
  /// Returns the target for passes. For a source with thread blocks, it is a target without limits, because the source
  /// is fitted to a target when it is compiled. A schedule is always made for a given target.
  passes::Target passTarget() const;
  /// Writes `text` to standard output, unless the result is shown in a table.
  bool say(const std::string &text);
  /// Writes a JSON document to standard output. If the result is shown in a table, stores it in `document` instead.
  bool say(const nlohmann::ordered_json &json);
  /// Writes what `print` prints to `path` ("-": standard output).
  bool writeFile(const std::string &path, const std::function<void(std::ostream &)> &print);
};

/// Returns the text of a JSON document. Replaces bytes that are not UTF-8, which names of files may contain.
std::string textOf(const nlohmann::ordered_json &document);

/// A row of the table of outputs.
struct Output {
  /// Writes the output. Reports errors to the job's diagnostics.
  bool (*write)(Job &) = nullptr;
  std::string_view flag = {};  ///< option that asks for the output
  std::string_view value = {}; ///< the file that the flag takes, as in --help; empty: none
  std::string_view help = {};  ///< line of --help about the output
  /// Words that the flag may take, as in --verify=invariant. If none is given, the first word is used.
  std::vector<std::string_view> words = {};
  std::vector<std::string_view> options = {}; ///< options that this output uses
  Subject subject = Subject::Program;
  std::string_view consumer = {}; ///< the consumer of the program in errors about `needs`: "a plan"
  /// The properties that passes must have given the program before it is written.
  passes::Properties needs = passes::Scheduled | passes::DataSyncLowered | passes::SingleInstance;
  Proof proof = Proof::OfPlan;
  std::string_view target = "mscclpp"; ///< without --target
  Destination destination = Destination::File;
  Combinations combinations = Combinations::Refused;
  bool isPlan = false;     ///< the file of -o is a plan, so --compact is used
  bool keepsCalls = false; ///< needs Job::calls
  /// Signals through the switch are replaced by a signal to each member (ir/switch_signals.h).
  bool pointToPoint = false;
  bool keepsSums = false; ///< needs Job::outputSums
  /// An input plan is read as the executor runs it, not in the form in which it would be written again.
  bool judgesPlan = false;
  /// A movement program is scheduled separately for each size that is shown, unless --message-size gives one size for
  /// all. The writer then runs once for each size (Job::each).
  bool schedulesEach = false;
  /// The message size (bytes) if neither --size nor --message-size is given, or the nearest size that the program
  /// takes. 0: the output shows several sizes.
  std::uint64_t usualSize = 0;
  bool comparesBlocks = false; ///< needs Chosen::byBlocks
  /// What is written does not run as it is. So with --no-verify and the usual passes, prune-sync does not prove what it
  /// drops either.
  bool prunesUnproven = false;
};

#define OUTPUT(name, ...) bool write##name(Job &job);
#include "compiler/outputs/outputs.def"
#undef OUTPUT

/// True if Output::options has the option.
bool takes(const Output &output, std::string_view name);

/// The options that affect the schedule of a program of statements, whichever output is written.
inline constexpr std::array<std::string_view, 4> schedulingOptions{"--message-size", "--machine", "--counts", "--rows"};
bool isForScheduling(std::string_view name);

/// True if the output uses the option for every kind of program. A proof uses --machine to find how many blocks a GPU
/// holds. A kernel is made for a machine.
bool heeds(const Output &output, std::string_view name, bool isProven);

/// Returns all outputs. The default output is the first one.
const std::vector<Output> &allOutputs();

/// Returns the flags of the outputs for which `is` returns true: "--verify, --run and --list".
std::string flagsOf(const std::function<bool(const Output &)> &is, std::string_view conjunction = "and");

/// Returns the flags of the outputs that allow several values of -P. A flag that takes a folder is shown with it:
/// "--diff DIR/".
std::string flagsOfCombinations();

} // namespace mscclc::driver
