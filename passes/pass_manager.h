// Runs passes in order: names, wiring, dumps, checks between passes, timings.
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
  std::string stopAfter; ///< run no pass after the last of this name; empty: run all
  /// Run only the first so many of the optional passes (Pass::isOptional), and say of each through `print` whether it
  /// is run; without a value, run all.
  std::optional<std::uint32_t> passLimit = {};
#ifdef NDEBUG
  bool verifyEach = false; ///< check the structure, and what is known of the program, after each pass
#else
  bool verifyEach = true;
#endif

  /// Takes the dumps asked for, and what passLimit says: "IR after fuse", then the text; or "IR after fuse (unchanged)"
  /// and no text where it is that of the dump before.
  std::function<void(std::string_view title, std::string_view text)> print;
  /// Runs after each pass where it is set, and may report: false stops the run.
  std::function<bool(std::string_view pass, const ir::Program &, ir::DiagnosticEngine &)> check;
};

/// What one pass took and did.
struct PassRecord {
  std::string_view pass;
  double seconds = 0;
  PassStats stats;
};

struct PassRun {
  bool ok = true; ///< false: errors were reported
  std::vector<PassRecord> records;
};

/// The properties that `program` has as it stands: those of passes for which Pass::isProvided is true. Linear.
Properties propertiesOf(const ir::Program &program);

class PassManager {
public:
  /// For programs that have the properties `given` (see propertiesOf).
  explicit PassManager(PassManagerOptions options, Properties given = 0)
      : options_(std::move(options)), given_(given), held_(given) {}

  /// Where a list names the pass `name`, this one is added instead: the same pass with another parameter. Call it
  /// before add().
  void use(std::string_view name, Pass pass);
  /// Appends the passes of a list that splitNames() takes. Returns what is wrong with it, or nothing: an unknown name
  /// (the known ones are listed), or a pass that needs what neither the program nor an earlier pass gives.
  std::string add(std::string_view list);
  /// The same for a pass that passes.def does not list.
  std::string add(Pass pass);

  /// What is wrong with the options in view of the passes: a dump or stop asked for at a pass that is not run.
  std::string checkOptions() const;

  /// What the program has once the passes have run: what was given, and what those that run give (none after
  /// stopAfter does).
  Properties heldAtEnd() const;
  /// Those of `needs` that nothing gives.
  Properties missing(Properties needs) const { return needs & ~heldAtEnd(); }

  /// Runs the passes on `program`. Stops after a pass that reports an error. With verifyEach, throws ir::InternalError
  /// where `program` lacks a property promised, and where a pass leaves a broken structure or a stale analysis, or does
  /// not provide what it promises.
  PassRun run(ir::Program &program, ir::DiagnosticEngine &diags);
  /// The same where passes ran before: `analyses` are those that they left of `program`, which nothing has changed
  /// since but in what no analysis looks at; then those that these passes leave.
  PassRun run(ir::Program &program, ir::DiagnosticEngine &diags, Analyses &analyses);
  /// The same on the one rank that is planned.
  PassRun run(RepresentativeRank &one, ir::DiagnosticEngine &diags);

  const std::vector<Pass> &passes() const { return passes_; }

private:
  PassRun run(ir::Program &program, bool isOneRank, ir::DiagnosticEngine &diags, Analyses &analyses);
  /// How many of the passes run.
  std::size_t numToRun() const;
  /// Whether the limit on passes leaves `pass` out. `optionalPasses` counts the optional passes up to this one.
  bool isLeftOut(const Pass &pass, std::uint32_t &optionalPasses) const;
  void verify(const Pass &pass, const ir::Program &program, const Analyses &analyses) const;
  void dump(std::string_view when, std::string_view pass, const ir::Program &program);

  PassManagerOptions options_;
  Properties given_, held_;
  std::vector<Pass> passes_, variants_;
  std::string lastDump_;
};

/// The names of a list: separated by commas, blanks around a name do not count. An empty list has none; an empty name
/// between commas is one, and names nothing.
std::vector<std::string_view> splitNames(std::string_view list);

/// Every pass of passes.def, in its order.
const std::vector<Pass> &allPasses();

/// The name of the pass that gives `property`; empty if there is none.
std::string_view providerOf(Property property);

} // namespace mscclc::passes
