// The front end: a C++ algorithm in, a program out.
//
// The source is read by Clang, held against the dialect (dialect_checker.h), compiled in memory and run once
// (evaluate.h); what it recorded becomes the program (build_ir.h). All but the last step happens in a child process
// with limits (sandbox.h), so that nothing a source does reaches the compiler itself.
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
  /// What diagnostics call the source.
  std::string sourceName() const { return stdinText ? "<stdin>" : inputPath; }

  std::string inputPath;                                       ///< as the user wrote it; diagnostics show it so
  std::optional<std::string> stdinText;                        ///< the source itself, when it does not come from a file
  std::vector<std::string> clangArgs;                          ///< -I, -D and whatever else Clang takes
  std::vector<std::string> allowedFolders;                     ///< --allow-include: includes may lie there as well
  std::string dslDirectory;                                    ///< where mscclc/dsl.hpp is; empty: found by itself
  std::string algorithm;                                       ///< empty: the only one there is
  std::vector<std::pair<std::string, std::string>> parameters; ///< name and value
  double timeoutSeconds = 10; ///< processor time for the algorithm's run; compiling has as much, at least 10 s
  std::uint64_t memoryBytes = std::uint64_t{4} << 30; ///< for the recording, and as much for the algorithm's data
};

enum class ParameterKind : std::uint8_t { Integer, Bool, Enum, Double, Text };

/// A parameter of an algorithm, in words.
struct ParameterInfo {
  std::string name;
  std::string type;                     ///< as the source spells it
  std::string defaultValue;             ///< as -P takes it
  std::vector<std::string> enumerators; ///< of an enum, in order
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

/// The program that the chosen algorithm describes, or nothing and errors in `diagnostics`. `files` gets the user's
/// files that were read for it.
std::optional<ir::Program> compileAlgorithm(const FrontendOptions &options, ir::DiagnosticEngine &diagnostics,
                                            FrontendTimes *times = nullptr, std::vector<std::string> *files = nullptr);

/// The algorithms of a source in its order, of which there is at least one, or nothing and errors in `diagnostics`.
/// Nothing is run.
std::optional<std::vector<AlgorithmInfo>> listAlgorithms(const FrontendOptions &options,
                                                         ir::DiagnosticEngine &diagnostics);

/// Writes the DSL's headers, precompiled, to a file in `directory`, which exists. Done once when mscclc is built; a
/// compilation finds the file in ../lib/mscclc of its program. False and errors in `diagnostics` if it cannot be done.
bool precompileDsl(const FrontendOptions &options, const std::string &directory, ir::DiagnosticEngine &diagnostics);

} // namespace mscclc::frontend
