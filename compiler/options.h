// The command line, as one plain struct.
#pragma once

#include "ir/diagnostics.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mscclc::driver {

struct Output;

enum class InputKind { Auto, Algorithm, Plan, IR, Xml, Synthesis };
enum class ColorMode { Auto, Always, Never };
/// The form of findings on standard error.
enum class FindingsForm { Text, Json, Sarif };

/// The plan that --pad makes from a program of rows.
enum class Pad {
  None,   ///< none
  Slots,  ///< the plan that moves whole slots
  Counts, ///< the plan that exchanges the counts of rows
};

/// The user's requests. Default values are the defaults of the tool.
struct Options {
  std::vector<std::string> inputs; ///< all inputs
  std::string input;               ///< input of this compilation: a path, "-" for standard input, or empty
  std::string synthesize;          ///< --synthesize: the collective; if it is set, there is no input
  std::uint32_t root = 0;          ///< --root
  InputKind inputKind = InputKind::Auto;
  const Output *output = nullptr; ///< the requested output, an element of allOutputs()
  std::string outputValue;        ///< the value of the output's flag
  std::string outputPath = "-";   ///< path, or "-" for standard output
  bool hasOutputPath = false;     ///< -o was given; with --diff, the plan is also written to its file
  bool compact = false;
  bool writeDependencies = false; ///< -MD
  std::string dependencyPath;     ///< -MF; empty: the rule is written beside the output

  std::vector<std::pair<std::string, std::string>> parameters; ///< -P NAME=VALUE, in order
  std::string algorithm;
  std::string name; ///< replaces the name of the plan
  std::vector<std::string> clangArgs;
  std::vector<std::string> allowedFolders; ///< --allow-include
  /// Given options that have an effect on this output only for programs of statements. Each is paired with the flags of
  /// the outputs that use the option for every program.
  std::vector<std::pair<std::string, std::string>> forScheduling;
  std::vector<std::string> forAlgorithm; ///< options that were given and only affect C++ algorithms
  std::vector<std::string> forXml;       ///< options that were given and only affect schedules in XML
  std::uint32_t ranksPerNode = 0;        ///< --ranks-per-node; 0: all ranks are on one node
  bool keepBlocks = false;               ///< --keep-blocks

  std::optional<int> optLevel; ///< absent: see Job::optLevel()
  std::string passes;          ///< an explicit pipeline, comma-separated; replaces -O
  bool hasPasses = false;      ///< --passes was given; if its list is empty, no pass runs
  std::string printBefore;     ///< passes before which the program is printed: a list with commas, or "all"
  std::string printAfter;      ///< passes after which the program is printed: a list with commas, or "all"
  std::string stopAfter;
  std::optional<std::uint32_t> passLimit; ///< the number of optional passes to run; absent: all
  enum class VerifyEach { Off, Structure, Proof };
#ifdef NDEBUG
  VerifyEach verifyEach = VerifyEach::Off;
#else
  VerifyEach verifyEach = VerifyEach::Structure;
#endif
  bool timePasses = false;
  bool stats = false;
  bool verify = true;                ///< prove the program before it is written
  ir::AllowedNames allowed;          ///< findings that become warnings
  std::optional<std::string> target; ///< absent: Output::target

  double traceTimeout = 10;                           ///< seconds of processor time for evaluating the algorithm
  std::uint64_t traceMemory = std::uint64_t{4} << 30; ///< bytes
  std::vector<std::uint64_t> messageSizes;            ///< --message-size, bytes
  std::uint64_t messageSize = 0;                      ///< bytes, if `messageSizes` has one element; else 0

  std::string machine = "h100x8"; ///< --machine: a name or a file, with *N after it for N nodes
  bool hasMachine = false;        ///< --machine was given
  bool json = false;              ///< --json: print for programs instead of people

  bool blocksBySize = false; ///< --blocks-by-size: launches take more blocks for longer messages

  std::optional<std::uint32_t> rank; ///< --rank: the only rank to show

  bool update = false; ///< --update: rewrite the golden of --diff

  std::vector<std::uint64_t> runSizes;       ///< --size, bytes; empty: the output chooses a few
  std::vector<std::string> types;            ///< --dtype: element types for --run or for the kernel; empty: not given
  std::optional<std::uint32_t> runSchedules; ///< number of schedules that --run tries; absent: depends on the sizes
  std::uint64_t seed = 1;
  std::string counts;  ///< --counts: words of RowCounts, or a file; empty: not given
  std::string rows;    ///< --rows: BYTES or BYTES:CHOICES; empty: not known
  Pad pad = Pad::None; ///< --pad

  std::size_t maxErrors = 10; ///< the most errors shown on standard error; 0: no limit
  ColorMode color = ColorMode::Auto;
  FindingsForm findingsForm = FindingsForm::Text;
  bool warningsAreErrors = false;
  bool quiet = false;
};

/// The result of parsing the command line: options, or an exit code if text was already printed.
struct ParsedCommandLine {
  std::optional<Options> options;
  int exitCode = 0;
};

/// Parses `argv`. If the command line is wrong, or asks for help or the version, prints the text here and returns an
/// exit code.
ParsedCommandLine parseCommandLine(int argc, const char *const *argv);

} // namespace mscclc::driver
