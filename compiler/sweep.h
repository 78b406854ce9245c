// One run of the tool for many combinations of parameters.
//
// `-P ranks=2..16 -P lanes=1,2,4` runs every pair; the first parameter varies slowest. Standard output is a table: a
// line of headings, then a row for each combination. A row has the values that vary, the exit code of the combination,
// and its result. Two or more blanks separate columns. Standard error has the findings of each.
#pragma once

#include "compiler/driver.h"
#include "compiler/findings.h"
#include "compiler/input.h"
#include "compiler/session.h"
#include "frontend/frontend.h"
#include "passes/target.h"

#include <optional>

namespace mscclc::driver {

/// Returns true if the algorithm's parameters must be known: a value of -P may mean several, or --diff names a folder,
/// whose files are named by the parameters.
bool mayBeSweep(const Options &options);

/// Returns the file name in the folder of --diff for an algorithm with these parameters: ALGORITHM.json, or
/// ALGORITHM.NAME=VALUE,NAME=VALUE.json. Characters except letters, digits and `_+-.:` become %XX.
std::string goldenName(const std::string &algorithm,
                       const std::vector<std::pair<std::string, std::string>> &parameters);

class Sweep {
public:
  /// Finds the combinations. If that is not possible, reports errors of the command line and returns nothing.
  static std::optional<Sweep> plan(const Options &options, const frontend::AlgorithmInfo &algorithm,
                                   ir::DiagnosticEngine &diags);

  /// Returns true if no value means several.
  bool isOne() const { return varying_.empty(); }
  /// Returns the options of the first combination.
  const Options &first() const { return combinations_.front().options; }
  /// Runs all combinations. Prints a row of each, or with --json an array of documents. Returns the exit code of the
  /// worst. A combination with a wrong command line ends the run, because the others are wrong, too.
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
