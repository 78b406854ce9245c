// Runs passes in order, with names, requirements, dumps, checks between passes, and timings.
#pragma once

#include "passes/pass.h"
#include "passes/representative_rank.h"

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace mscclc::passes {

/// A set of passes: none, some, or all of them.
struct PassFilter {
  bool all = false;
  std::set<std::string, std::less<>> names;
  bool has(std::string_view pass) const { return all || names.contains(pass); }
};

struct PassManagerOptions {
  Target target;
  PassFilter printBefore;
  PassFilter printAfter;
  std::string stopAfter; ///< run no pass after the last one of this name; empty: run all
  /// Runs only the first `passLimit` optional passes (Pass::isOptional), and prints for each optional pass whether it
  /// is run. Without a value, runs all.
  std::optional<std::uint32_t> passLimit = {};
#ifdef NDEBUG
  bool verifyEach = false; ///< check the structure and the known analyses after each pass
#else
  bool verifyEach = true;
#endif

  /// Receives the requested dumps, and the lines of passLimit. A dump has the title "IR after fuse" and a text. If the
  /// text equals that of the dump before, the title is "IR after fuse (unchanged)", and the text is empty.
  std::function<void(std::string_view title, std::string_view text)> print;
  /// If set, runs after each pass. It may report diagnostics. Returning false stops the run.
  std::function<bool(std::string_view pass, const ir::Program &, ir::DiagnosticEngine &)> check;
};

/// The time and the counters of one pass.
struct PassRecord {
  std::string_view pass;
  double seconds = 0;
  PassStats stats;
};

/// The result of a run.
struct PassRun {
  bool ok = true; ///< false: errors were reported
  std::vector<PassRecord> records;
};

/// Returns the properties of `program`: those of all passes for which Pass::isProvided is true. Takes linear time.
Properties propertiesOf(const ir::Program &program);

/// A list of passes with their options, and its execution.
class PassManager {
public:
  /// Makes a list for programs that have the properties `given` (see propertiesOf).
  explicit PassManager(PassManagerOptions options, Properties given = 0)
      : options_(std::move(options)), given_(given), held_(given) {}

  /// Replaces the pass `name` in lists by this one, which is the same pass with other parameters. Must be called before
  /// add().
  void use(std::string_view name, Pass pass);
  /// Appends the passes of a list in the form of splitNames(). Returns an error, or an empty text. It is an error if a
  /// name is unknown (the text lists the known ones), or if a pass needs a property that neither the program nor an
  /// earlier pass provides.
  std::string add(std::string_view list);
  /// Appends `pass`, which need not be in passes.def. Returns an error, or an empty text.
  std::string add(Pass pass);

  /// Returns an error in the options: a dump or stop at a pass that is not run. Returns an empty text if there is none.
  std::string checkOptions() const;

  /// Returns the properties of the program after the passes: the given ones, and those that the passes provide. Passes
  /// after stopAfter do not count, because they do not run.
  Properties heldAtEnd() const;
  /// Returns the properties in `needs` that the program will not have after the passes.
  Properties missing(Properties needs) const { return needs & ~heldAtEnd(); }

  /// Runs the passes on `program`. Stops after a pass that reports an error. With verifyEach, throws ir::InternalError
  /// if `program` lacks a given property, or if a pass leaves a broken structure or a stale analysis, or does not
  /// provide what it promises.
  PassRun run(ir::Program &program, ir::DiagnosticEngine &diags);
  /// Runs the passes after an earlier run. `analyses` must be the analyses that the earlier passes left. Since then,
  /// nothing that an analysis uses may have changed. Afterwards `analyses` are those that these passes leave.
  PassRun run(ir::Program &program, ir::DiagnosticEngine &diags, Analyses &analyses);
  /// Runs the passes on the launch of a representative rank.
  PassRun run(RepresentativeRank &one, ir::DiagnosticEngine &diags);

  const std::vector<Pass> &passes() const { return passes_; }

private:
  PassRun run(ir::Program &program, bool isOneRank, ir::DiagnosticEngine &diags, Analyses &analyses);
  /// Returns the number of passes that run.
  std::size_t numToRun() const;
  /// True if the limit on passes leaves out `pass`. `optionalPasses` counts the optional passes including this one.
  bool isLeftOut(const Pass &pass, std::uint32_t &optionalPasses) const;
  void verify(const Pass &pass, const ir::Program &program, const Analyses &analyses) const;
  void dump(std::string_view when, std::string_view pass, const ir::Program &program);

  PassManagerOptions options_;
  Properties given_, held_;
  std::vector<Pass> passes_, variants_;
  std::string lastDump_;
};

/// Returns the names of a comma-separated list. Blanks around a name are ignored. An empty list has no names. A gap
/// between two commas is an empty name, which matches no pass.
std::vector<std::string_view> splitNames(std::string_view list);

/// Returns every pass of passes.def, in its order.
const std::vector<Pass> &allPasses();

/// Returns the name of the pass that provides `property`; empty if there is none.
std::string_view providerOf(Property property);

} // namespace mscclc::passes
