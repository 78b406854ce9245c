// The outputs of mscclc. For each output, the table outputs.def has its flag, its requirements of a program and its
// destination. The driver, the exclusions of options and --help read the table. An output is a row there and a file
// with its writer here.
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

/// The source of an output.
enum class Subject {
  Program, ///< the program, transformed and proven
  Source,  ///< the input, unchanged; nothing is loaded
};

/// The proof before an output is written, unless --no-verify is given.
enum class Proof {
  None,     ///< none: the program is shown as passes leave it
  OfPlan,   ///< the program as the MSCCL++ executor runs it
  OfKernel, ///< the program as an emitted kernel runs it
  IsOutput, ///< like OfPlan; the result of the proof is the output
};

/// The destination of an output.
enum class Destination {
  File,      ///< the file of -o; without -o standard output
  Terminal,  ///< standard output, in words; -o is refused
  OnlyNamed, ///< the file of -o; without -o none
};

/// The effect of several values of -P on an output.
enum class Combinations {
  Refused,      ///< several values are an error
  Rows,         ///< a table with a row for each
  RowsOfFolder, ///< the same; the flag's value is a folder with a file for each
};

/// The choices for a program of statements, and their target.
struct Chosen {
  passes::schedule::Choice choice;
  bool anyProtocol = false, anyInstances = false; ///< true if the program leaves the choice open
  passes::time::Machine machine;
  passes::time::Runner runner = passes::time::Runner::Executor;
  std::uint64_t bytes = 0; ///< size of the message, in bytes
  bool keepsBlocks =
      false; ///< thread blocks are those of a schedule in XML, because the target does not accept chosen ones
  InputKind input = InputKind::Auto;                         ///< kind of the input
  std::vector<passes::schedule::TimeByBlocks> byBlocks = {}; ///< for an output that compares numbers of blocks
};

/// An estimate, and the schedule that it is of.
struct TimedSchedule {
  passes::time::Estimate estimate;
  std::uint32_t blocks = 0;                                      ///< the most thread blocks of a rank
  std::optional<passes::schedule::ScheduleChoices> choices = {}; ///< nothing if the program leaves no choice open
  std::optional<passes::time::Time> published = {};              ///< NCCL's time, in nanoseconds
};

/// The data for a writer.
struct Job {
  const Options &options;
  passes::Target target; ///< the target of options, except for a program of rows
  ir::DiagnosticEngine &diags;
  StageTimes &times;
  bool inTable = false;     ///< the job is one of several combinations: say() prints nothing, because `result` is shown
  Input input = {};         ///< its text is removed once `program` is loaded
  ir::Program program = {}; ///< empty for an output that needs only the source
  ir::Program calls = {};   ///< the program in thread blocks before any pass changed it, for an output that needs it
  std::optional<ir::Program> synthesized = {}; ///< statements that --synthesize made, for an output that needs calls
  /// The program that --synthesize made with the schedule of its comparison, until the session takes it.
  std::optional<passes::schedule::ScheduledProgram> scheduled = {};
  passes::time::Machine machine = {}; ///< machine of --machine, or the usual one; set once `program` is loaded
  std::optional<Chosen> chosen = {};  ///< choices, for a program of statements
  std::uint32_t mostBlocks = 0; ///< the most thread blocks of a rank that a program of statements asks for; 0: no limit
  const passes::VerifyResult *proof = nullptr; ///< the proof of `program`; null if it was not proven
  /// The message size (bytes) that the program is scheduled for, and whether it is the last one. Nothing unless the
  /// output schedules for each size.
  struct Each {
    std::uint64_t bytes = 0;
    bool isLast = false;
  };
  std::optional<Each> each = {};
  std::vector<TimedSchedule> timed = {};             ///< for the sizes before, and this one
  std::vector<std::string> launches = {};            ///< the same as the data of a page's launches, in JSON
  std::optional<passes::OutputSums> outputSums = {}; ///< the trees of sums that the proof has found, for --run
  std::optional<passes::RowCounts> counts = {};      ///< the counts of --counts, for a program of rows
  std::uint64_t rowBytes = 0;                        ///< of a program of rows, as --rows says; 0: not known
  std::uint32_t choices = passes::time::LiveRows::usualChoices; ///< experts of a row, as --rows says
  /// How long a launch takes if rows go once to each expert, and once to each rank; nothing if that was not compared.
  struct OncePerRankTimes {
    passes::time::Time without = 0, with = 0; ///< nanoseconds
  };
  std::optional<OncePerRankTimes> oncePerRank = {};
  std::string sums = {};   ///< SumOrder::exact if the program is invariant, else in words; see prove()
  std::string result = {}; ///< result in a few words; for a proof that is the output, the proof's result
  /// The argument of say() in a table; null if there was none.
  std::shared_ptr<const nlohmann::ordered_json> document = {};

  /// Returns the optimization level. A plan stays the same as far as possible. Synchronisation of the user is fused as
  /// in the DSL. Programs that the compiler synchronised are also optimized, and so are kernels, which no other tool
  /// makes for comparison. A program that is proven or estimated for no target counts as a kernel.
  int optLevel() const;
  /// Returns the target for passes. A source is for any target, because it is fitted when it is compiled. A schedule is
  /// made for one.
  passes::Target passTarget() const;
  /// Writes `text` to standard output, but not in a table.
  bool say(const std::string &text);
  /// Does the same with a document for programs. In a table, the document is kept.
  bool say(const nlohmann::ordered_json &json);
  /// Writes what `print` prints to `path` ("-": standard output).
  bool writeFile(const std::string &path, const std::function<void(std::ostream &)> &print);
};

/// Returns text for a program to read. Bytes that are not UTF-8, which file names may contain, are replaced.
std::string textOf(const nlohmann::ordered_json &document);

/// A row of the table.
struct Output {
  /// Writes the output. Errors go to the job's diagnostics.
  bool (*write)(Job &) = nullptr;
  std::string_view flag = {};  ///< asks for the output
  std::string_view value = {}; ///< what the flag takes: a file that is read, as --help names it; empty: nothing
  std::string_view help = {};  ///< a line of --help
  /// Words that the flag may take, as in --verify=invariant. Without one it is the first.
  std::vector<std::string_view> words = {};
  std::vector<std::string_view> options = {}; ///< options that this output uses, and other outputs that list them
  Subject subject = Subject::Program;
  std::string_view consumer = {}; ///< "a plan": the words for the user of `needs`, in errors
  /// Properties that passes must have given the program.
  passes::Properties needs = passes::Scheduled | passes::DataSyncLowered | passes::SingleInstance;
  Proof proof = Proof::OfPlan;
  std::string_view target = "mscclpp"; ///< without --target
  Destination destination = Destination::File;
  Combinations combinations = Combinations::Refused;
  bool isPlan = false;       ///< the file of -o is a plan, so --compact is used
  bool keepsCalls = false;   ///< needs Job::calls
  bool pointToPoint = false; ///< signals through the switch become signals to each member (ir/switch_signals.h)
  bool keepsSums = false;    ///< needs Job::outputSums
  bool judgesPlan = false;   ///< a plan is read as the executor runs it, not as it would be written again
  /// A movement program is scheduled for each size that is shown, unless --message-size gives one for all. The writer
  /// runs for each of them (Job::each).
  bool schedulesEach = false;
  /// The message size (bytes) without --size and --message-size, or the nearest that the program takes. 0: several
  /// sizes.
  std::uint64_t usualSize = 0;
  bool comparesBlocks = false; ///< needs Chosen::byBlocks
};

#define OUTPUT(name, ...) bool write##name(Job &job);
#include "compiler/outputs/outputs.def"
#undef OUTPUT

/// True if the output has the option in Output::options.
bool takes(const Output &output, std::string_view name);

/// The options for which programs of statements are scheduled, whatever the output.
inline constexpr std::array<std::string_view, 4> schedulingOptions{"--message-size", "--machine", "--counts", "--rows"};
bool isForScheduling(std::string_view name);

/// True if the output uses the option for every kind of program. A proof uses the machine for the blocks that a GPU
/// holds, and a kernel is made for a machine.
bool heeds(const Output &output, std::string_view name, bool isProven);

/// Returns all outputs, the default first.
const std::vector<Output> &allOutputs();

/// Returns the flags of the outputs for which `is` is true: "--verify, --run and --list".
std::string flagsOf(const std::function<bool(const Output &)> &is, std::string_view conjunction = "and");

/// Returns the same for the outputs that take several values of -P, with the names of their values: "--diff DIR/".
std::string flagsOfCombinations();

} // namespace mscclc::driver
