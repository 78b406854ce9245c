// The front end: it turns a C++ algorithm into a program.
//
// Clang reads the source, the dialect is checked (dialect_checker.h), and the algorithm is compiled in memory and run
// once (evaluate.h). The recording of the run becomes the program (build_ir.h). All steps but the last happen in a
// child process with limits (sandbox.h), so a source cannot affect the compiler itself.
#pragma once

#include "ir/diagnostics.h"
#include "ir/program.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mscclc::frontend {

struct FrontendOptions {
  /// Returns the name of the source in diagnostics.
  std::string sourceName() const { return stdinText ? "<stdin>" : inputPath; }

  std::string inputPath;                   ///< path as the user wrote it, and as diagnostics show it
  std::optional<std::string> stdinText;    ///< the source itself, if it is not in a file
  std::vector<std::string> clangArgs;      ///< -I, -D and other arguments of Clang
  std::vector<std::string> allowedFolders; ///< --allow-include: further folders for includes
  std::string dslDirectory;                ///< the folder of mscclc/dsl.hpp; empty: the front end searches for it
  std::string algorithm;                   ///< name of the algorithm; empty: the source must have exactly one
  std::vector<std::pair<std::string, std::string>> parameters; ///< name and value of each parameter
  double timeoutSeconds = 10; ///< processor time for the algorithm's run; compiling may take as much, or 10 s
  std::uint64_t memoryBytes = std::uint64_t{4} << 30; ///< limit for the recording; also one for the algorithm's data
};

enum class ParameterKind : std::uint8_t { Integer, Bool, Enum, Double, Text };

/// A parameter of an algorithm, as text.
struct ParameterInfo {
  std::string name;
  std::string type;                     ///< the type's name in the source
  std::string defaultValue;             ///< the value as a text for -P
  std::vector<std::string> enumerators; ///< names of an enum's values, in order
  ParameterKind kind = ParameterKind::Integer;
};

struct AlgorithmInfo {
  std::string name;
  std::string doc; ///< the algorithm's doc comment without comment marks
  std::vector<ParameterInfo> parameters;
};

/// Wall time of each stage in milliseconds; stages that were not reached are 0.
struct FrontendTimes {
  double start = 0;    ///< the child process and Clang's set-up
  double parse = 0;    ///< Clang's parser
  double check = 0;    ///< checks of the dialect and the parameters
  double generate = 0; ///< LLVM IR and its instrumentation
  double link = 0;     ///< machine code
  double run = 0;      ///< the algorithm
  double build = 0;    ///< from the recording to the program
};

/// Returns the program that the chosen algorithm describes. After errors, adds them to `diagnostics` and returns
/// nothing. `files` receives the user's files that were read.
std::optional<ir::Program> compileAlgorithm(const FrontendOptions &options, ir::DiagnosticEngine &diagnostics,
                                            FrontendTimes *times = nullptr, std::vector<std::string> *files = nullptr);

/// Returns the algorithms of a source, at least one, in the order of the source. After errors, adds them to
/// `diagnostics` and returns nothing. Does not run an algorithm.
std::optional<std::vector<AlgorithmInfo>> listAlgorithms(const FrontendOptions &options,
                                                         ir::DiagnosticEngine &diagnostics);

/// Precompiles the DSL's headers into a file in the existing folder `directory`. This is done once, when mscclc is
/// built. A compilation finds the file in ../lib/mscclc, seen from the program's folder. After errors, adds them to
/// `diagnostics` and returns false.
bool precompileDsl(const FrontendOptions &options, const std::string &directory, ir::DiagnosticEngine &diagnostics);

} // namespace mscclc::frontend
