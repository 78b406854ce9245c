// One run of the tool for many combinations of parameters.
//
// `-P ranks=2..16 -P lanes=1,2,4` is tried for every pair, the first parameter varying slowest. Standard output is a
// table: a line of headings, then a row for each combination with the values that vary, the exit code that it would
// have by itself, and its result. Columns are parted by two blanks or more. Standard error has the findings of each.
#pragma once

#include "compiler/driver.h"
#include "compiler/input.h"
#include "compiler/session.h"
#include "frontend/frontend.h"
#include "passes/target.h"

#include <optional>

namespace mscclc::driver {

/// Whether the algorithm's parameters have to be known: because a value of -P may stand for several, or because --diff
/// names a folder, whose files are named by them.
bool mayBeSweep(const Options &options);

/// The file in the folder of --diff for an algorithm with these parameters, as -P gives them: ALGORITHM.json, or
/// ALGORITHM.NAME=VALUE,NAME=VALUE.json. What is no letter, digit or one of `_+-.:` becomes %XX.
std::string goldenName(const std::string &algorithm,
                       const std::vector<std::pair<std::string, std::string>> &parameters);

class Sweep {
public:
  /// Works out what is to be run; nothing, and errors of the command line, if that cannot be done.
  static std::optional<Sweep> plan(const Options &options, const frontend::AlgorithmInfo &algorithm,
                                   ir::DiagnosticEngine &diags);

  /// Whether no value stands for several.
  bool isOne() const { return varying_.empty(); }
  /// The options of the first combination.
  const Options &first() const { return combinations_.front().options; }
  /// Runs all, and prints a row of each, or with --json an array of documents; the exit code of the worst. A
  /// combination whose command line is wrong ends the run: so are the others.
  ExitCode run(const Input &input, const passes::Target &target) const;

private:
  struct Combination {
    Options options;
    std::vector<std::string> values; ///< of the parameters that vary
  };
  std::string row(const std::vector<std::string> &values, const std::string &code, const std::string &result) const;
  std::string document(const Combination &combination, const Outcome &outcome) const;
  std::string words(const Combination &combination) const;

  std::vector<std::string> varying_; ///< names
  std::vector<std::size_t> widths_;  ///< of their columns
  std::vector<Combination> combinations_;
};

} // namespace mscclc::driver
