// One run of the tool for many combinations of parameters.
//
// `-P ranks=2..16 -P lanes=1,2,4` runs every pair; the first parameter varies slowest. Standard output gets a table: a
// line of headings, then a row for each combination. A row has the values that vary, the exit code and the result of
// the combination. Columns are separated by at least two blanks. Standard error gets the findings of each combination.
#pragma once

#include "compiler/driver.h"
#include "compiler/findings.h"
#include "compiler/input.h"
#include "compiler/session.h"
#include "frontend/frontend.h"
#include "passes/target.h"

#include <optional>

namespace mscclc::driver {

/// Returns true if the run may have several combinations, so that the types of the algorithm's parameters are needed.
/// This is the case if a value of -P may stand for several values. It is also the case if --diff names a folder,
/// because its files are named by the parameters.
bool mayBeSweep(const Options &options);

/// Returns the name of the golden for these parameters in the folder of --diff: ALGORITHM.json, or
/// ALGORITHM.NAME=VALUE,NAME=VALUE.json. A character that is not a letter, a digit or one of `_+-.:` becomes %XX.
std::string goldenName(const std::string &algorithm,
                       const std::vector<std::pair<std::string, std::string>> &parameters);

class Sweep {
public:
  /// Returns all combinations. If the command line is wrong, reports errors and returns nothing.
  static std::optional<Sweep> plan(const Options &options, const frontend::AlgorithmInfo &algorithm,
                                   ir::DiagnosticEngine &diags);

  /// Returns true if no parameter has several values.
  bool isOne() const { return varying_.empty(); }
  /// Returns the options of the first combination.
  const Options &first() const { return combinations_.front().options; }
  /// Runs all combinations. Prints a row for each; with --json, prints an array of documents instead. Returns the worst
  /// exit code. If the command line of one combination is wrong, the run ends, because the others are wrong, too.
  ExitCode run(const Input &input, const passes::Target &target, Findings &findings) const;

private:
  struct Combination {
    Options options;
    std::vector<std::string> values; ///< values of the parameters that vary
  };
  std::string row(const std::vector<std::string> &values, const std::string &code, const std::string &result) const;
  std::string document(const Combination &combination, const Outcome &outcome) const;
  std::string words(const Combination &combination) const;

  std::vector<std::string> varying_; ///< names
  std::vector<std::size_t> widths_;  ///< widths of the columns of varying values
  std::vector<Combination> combinations_;
};

} // namespace mscclc::driver
