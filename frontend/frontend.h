// The front end: it turns a C++ algorithm into a program.
//
// Clang reads the source, the dialect is checked (dialect_checker.h), and the algorithm is compiled in memory and run
// once (evaluate.h). Its recording becomes the program (build_ir.h). All but the last step happen in a child process
// with limits (sandbox.h), so a source cannot affect the compiler itself.
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
  std::vector<std::string> allowedFolders; ///< --allow-include: includes may also be there
  std::string dslDirectory;                ///< the folder of mscclc/dsl.hpp; empty: it is searched
  std::string algorithm;                   ///< empty: the source must have exactly one
  std::vector<std::pair<std::string, std::string>> parameters; ///< name and value
  double timeoutSeconds = 10; ///< processor time for the algorithm's run; compiling may take the same, at least 10 s
  std::uint64_t memoryBytes = std::uint64_t{4} << 30; ///< limit for the recording, and also for the algorithm's data
};

enum class ParameterKind : std::uint8_t { Integer, Bool, Enum, Double, Text };

/// A parameter of an algorithm, as text.
struct ParameterInfo {
  std::string name;
  std::string type;                     ///< the type's name in the source
  std::string defaultValue;             ///< text in the form of -P
  std::vector<std::string> enumerators; ///< names of an enum's values, in order
  ParameterKind kind = ParameterKind::Integer;
};

struct AlgorithmInfo {
  std::string name;
  std::string doc; ///< its doc comment without comment marks
  std::vector<ParameterInfo> parameters;
};

/// Wall time of each stage in milliseconds; stages that were not reached are 0.
struct FrontendTimes {
  double start = 0;    ///< the child process and Clang's set-up
  double parse = 0;    ///< Clang's parser
  double check = 0;    ///< dialect and parameters
  double generate = 0; ///< LLVM IR and its instrumentation
  double link = 0;     ///< machine code
  double run = 0;      ///< the algorithm
  double build = 0;    ///< recording to program
};

/// Returns the program that the chosen algorithm describes. After errors, adds them to `diagnostics` and returns
/// nothing. `files` receives the user's files that were read.
std::optional<ir::Program> compileAlgorithm(const FrontendOptions &options, ir::DiagnosticEngine &diagnostics,
                                            FrontendTimes *times = nullptr, std::vector<std::string> *files = nullptr);

/// Returns the algorithms of a source in its order, at least one. After errors, adds them to `diagnostics` and returns
/// nothing. Does not run an algorithm.
std::optional<std::vector<AlgorithmInfo>> listAlgorithms(const FrontendOptions &options,
                                                         ir::DiagnosticEngine &diagnostics);

/// Writes the DSL's headers, precompiled, to a file in `directory`, which exists. Done once when mscclc is built; a
/// compilation finds the file in ../lib/mscclc of its program. False and errors in `diagnostics` if it cannot be done.
bool precompileDsl(const FrontendOptions &options, const std::string &directory, ir::DiagnosticEngine &diagnostics);

} // namespace mscclc::frontend
