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

/// The plan that is made of a program of rows.
enum class Pad {
  None,   ///< none
  Slots,  ///< the plan that moves whole slots
  Counts, ///< the plan that exchanges the counts
};

/// The user's requests. Default values are the defaults of the tool.
struct Options {
  std::vector<std::string> inputs; ///< all inputs
  std::string input;               ///< the input of this compilation: path, or "-" for standard input; empty: none
  std::string synthesize;          ///< --synthesize: a collective; then there is no input
  std::uint32_t root = 0;          ///< --root
  InputKind inputKind = InputKind::Auto;
  const Output *output = nullptr; ///< the requested output, a row of allOutputs()
  std::string outputValue;        ///< the value of its flag
  std::string outputPath = "-";   ///< path, or "-" for standard output
  bool hasOutputPath = false;     ///< -o is given; with --diff the plan is also written there
  bool compact = false;
  bool writeDependencies = false; ///< -MD
  std::string dependencyPath;     ///< -MF; empty: beside the output

  std::vector<std::pair<std::string, std::string>> parameters; ///< -P NAME=VALUE, in order
  std::string algorithm;
  std::string name; ///< overrides the plan's name
  std::vector<std::string> clangArgs;
  std::vector<std::string> allowedFolders; ///< --allow-include
  /// Given options for programs of statements. Each has the flags of the outputs that use it for other programs, too.
  std::vector<std::pair<std::string, std::string>> forScheduling;
  std::vector<std::string> forAlgorithm; ///< given options that only have a meaning for C++ algorithms
  std::vector<std::string> forXml;       ///< given options that only have a meaning for schedules in XML
  std::uint32_t ranksPerNode = 0;        ///< --ranks-per-node; 0: all ranks are of one node
  bool keepBlocks = false;               ///< --keep-blocks

  std::optional<int> optLevel; ///< absent: see Job::optLevel()
  std::string passes;          ///< an explicit pipeline, comma-separated; replaces -O
  bool hasPasses = false;      ///< --passes was given; an empty list runs nothing
  std::string printBefore;     ///< passes, comma-separated, or "all"
  std::string printAfter;      ///< passes, comma-separated, or "all"
  std::string stopAfter;
  std::optional<std::uint32_t> passLimit; ///< the number of optional passes that run; absent: all
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

  double traceTimeout = 10;                           ///< seconds of processor time
  std::uint64_t traceMemory = std::uint64_t{4} << 30; ///< bytes
  std::vector<std::uint64_t> messageSizes;            ///< --message-size, bytes
  std::uint64_t messageSize = 0;                      ///< the only one of them; 0: not given, or several

  std::string machine = "h100x8"; ///< --machine: a name or a file, with *N after it for N nodes
  bool hasMachine = false;        ///< --machine was given
  bool json = false;              ///< --json: print for programs instead of people

  bool blocksBySize = false; ///< --blocks-by-size: launches take more blocks for longer messages

  std::optional<std::uint32_t> rank; ///< --rank: only this rank

  bool update = false; ///< --diff: rewrite the golden

  std::vector<std::uint64_t> runSizes;       ///< --size, bytes; empty: a few small ones that fit
  std::vector<std::string> types;            ///< --dtype: to run with, or to compile in; empty: not given
  std::optional<std::uint32_t> runSchedules; ///< absent: depends on the sizes
  std::uint64_t seed = 1;
  std::string counts;  ///< --counts: words of RowCounts, or a file; empty: mixtures
  std::string rows;    ///< --rows: BYTES or BYTES:CHOICES; empty: not known
  Pad pad = Pad::None; ///< --pad

  std::size_t maxErrors = 10; ///< shown on standard error; 0: all
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

/// Parses `argv`. Prints help, version or the error itself, because these end the run.
ParsedCommandLine parseCommandLine(int argc, const char *const *argv);

} // namespace mscclc::driver
