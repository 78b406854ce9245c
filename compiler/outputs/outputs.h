// What mscclc can put out. The table outputs.def says of each output how it is asked for, what it takes of a program
// and where it goes; the driver, the exclusions of options and --help read it. An output is a row there and a file with
// its writer here.
#pragma once

#include "compiler/driver.h"
#include "compiler/input.h"
#include "compiler/options.h"
#include "compiler/timing.h"
#include "ir/diagnostics.h"
#include "ir/program.h"
#include "passes/pass_manager.h"
#include "passes/schedule/choose.h"
#include "passes/target.h"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace mscclc::driver {

/// What an output is made of.
enum class Subject {
  Program, ///< the program, once it is transformed and proven
  Source,  ///< the input as it is; nothing is loaded
};

/// What is proven before an output is written, unless --no-verify is given.
enum class Proof {
  None,     ///< nothing: the program is shown as passes leave it
  OfPlan,   ///< the program as the MSCCL++ executor runs it
  OfKernel, ///< the program as a kernel of our own runs it
  IsOutput, ///< as OfPlan; what was proven is the output
};

/// Where an output goes.
enum class Destination {
  File,      ///< to the file of -o; without -o to standard output
  Terminal,  ///< to standard output, in words; -o is refused
  OnlyNamed, ///< to the file of -o; without -o nowhere
};

/// What several values of -P make of an output.
enum class Combinations {
  Refused,      ///< it is of one combination
  Rows,         ///< a table with a row for each
  RowsOfFolder, ///< the same, where the flag's value is a folder with a file for each
};

/// What was chosen for a program of statements, and what for.
struct Chosen {
  passes::schedule::Choice choice;
  bool anyProtocol = false, anyInstances = false; ///< left open by the program
  passes::time::Machine machine;
  passes::time::Runner runner = passes::time::Runner::Executor;
  std::uint64_t bytes = 0;  ///< of the message
  bool keepsBlocks = false; ///< thread blocks are those of a schedule in XML: the target takes none that are chosen
  InputKind input = InputKind::Auto; ///< of the program
};

/// What a writer works on.
struct Job {
  const Options &options;
  const passes::Target target;
  ir::DiagnosticEngine &diags;
  StageTimes &times;
  bool inTable = false;     ///< one of several combinations: say() is silent, as `result` is shown
  Input input = {};         ///< without its text once `program` is loaded
  ir::Program program = {}; ///< empty for an output of the source
  ir::Program calls = {};   ///< of an output that keeps it: the program in thread blocks before any pass changed it
  passes::time::Machine machine = {}; ///< of --machine, or the usual one; once `program` is loaded
  std::optional<Chosen> chosen = {};  ///< of a program of statements
  std::string result = {};            ///< in a few words; what was proven after a proof that is the output
  /// What say() was given in a table; null where it was given none.
  std::shared_ptr<const nlohmann::ordered_json> document = {};

  /// A plan stays as it is, as far as possible; what a user synchronised is fused as the DSL does. What the compiler
  /// synchronised is optimized as well, and so is a kernel, which no other tool is to compare with: what is judged or
  /// estimated for no target is one.
  int optLevel() const;
  /// What passes make the program for. A source is for any target, and fitted to one when it is compiled; a schedule is
  /// made for one.
  passes::Target passTarget() const;
  /// Writes `text` to standard output, but not in a table.
  bool say(const std::string &text);
  /// The same of a document for programs. In a table it is kept.
  bool say(const nlohmann::ordered_json &json);
  /// Writes what `print` prints to `path` ("-": standard output).
  bool writeFile(const std::string &path, const std::function<void(std::ostream &)> &print);
};

/// As text for a program to read; bytes that are not UTF-8, as names of files may have, are replaced.
std::string textOf(const nlohmann::ordered_json &document);

/// A row of the table.
struct Output {
  /// Writes the output. Errors go to the job's diagnostics.
  bool (*write)(Job &) = nullptr;
  std::string_view flag = {};  ///< asks for the output
  std::string_view value = {}; ///< what the flag takes: a file that is read, as --help names it; empty: nothing
  std::string_view help = {};  ///< a line of --help
  std::vector<std::string_view> options =
      {}; ///< that mean something to this output, and to those that name them as well
  Subject subject = Subject::Program;
  std::string_view consumer = {}; ///< "a plan": who has `needs`, in errors
  passes::Properties needs = 0;   ///< what passes must have given the program
  Proof proof = Proof::OfPlan;
  std::string_view target = "mscclpp"; ///< without --target
  Destination destination = Destination::File;
  Combinations combinations = Combinations::Refused;
  bool isPlan = false;       ///< what goes to -o is a plan: --compact is heeded
  bool keepsCalls = false;   ///< needs Job::calls
  bool pointToPoint = false; ///< signals through the switch are those to each member (ir/switch_signals.h)
  bool judgesPlan = false;   ///< a plan is read as the executor runs it, not as it would be written again
};

#define OUTPUT(name, ...) bool write##name(Job &job);
#include "compiler/outputs/outputs.def"
#undef OUTPUT

/// All outputs, the default first.
const std::vector<Output> &allOutputs();

/// The flags of the outputs that `is` is true of: "--verify, --run and --list".
std::string flagsOf(const std::function<bool(const Output &)> &is, std::string_view conjunction = "and");

/// As flagsOf(), of the outputs that take several values of -P, with what these have to name: "--diff DIR/".
std::string flagsOfCombinations();

} // namespace mscclc::driver
