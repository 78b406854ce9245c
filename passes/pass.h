// A pass: a named rewrite or check of a whole program, with its requirements and its results.
#pragma once

#include "ir/diagnostics.h"
#include "ir/program.h"
#include "passes/analyses.h"
#include "passes/target.h"

#include <functional>
#include <string_view>
#include <vector>

namespace mscclc::passes {

/// Properties of a program that passes rely on. A set is a bitwise or of them.
enum Property : std::uint8_t {
  DataSyncLowered = 1, ///< no operation has a DataSync: nops express all of it
  SingleInstance = 2,  ///< instances have been replicated
  Scheduled = 4, ///< no statement of the movement form is left; all passes except those of passes/schedule need this
  Placed = 8,    ///< each statement has the rank that executes it, and its transport (passes/schedule/placement.h)
  Cut = 16,      ///< each statement has its thread block
};
using Properties = std::uint8_t;
inline constexpr Property allProperties[] = {Placed, Cut, Scheduled, DataSyncLowered, SingleInstance};

/// Returns the words for a property: "lowered data sync", "thread blocks", …
std::string_view describe(Property property);

/// Counters of one pass, in the order in which they were first used.
class PassStats {
public:
  struct Counter {
    std::string_view name; ///< a literal, such as "operations fused"
    std::uint64_t value = 0;
  };
  void count(std::string_view name, std::uint64_t n = 1);
  const std::vector<Counter> &counters() const { return counters_; }

private:
  std::vector<Counter> counters_;
};

/// The arguments of a pass.
struct PassContext {
  ir::Program &program;
  ir::DiagnosticEngine &diags;
  const Target &target;
  PassStats &stats;
  Analyses &analyses;           ///< analyses of the program as it was when the pass began
  const bool isOneRank = false; ///< only rank 0 has thread blocks, as in RepresentativeRank::launch()
};

/// A pass. It reports all errors that it finds, and the pass manager stops after it if there were any. It keeps the
/// analyses that hold for the program that it leaves.
struct Pass {
  std::string_view name = {};    ///< set from passes.def
  std::string_view summary = {}; ///< set from passes.def
  Properties needs = 0;
  Properties provides = 0;
  /// True if a program has the properties that the pass provides, even if the pass did not make them. It only looks at
  /// existing thread blocks, not at those that will be made from statements. Takes linear time. Null if the pass
  /// provides nothing.
  bool (*isProvided)(const ir::Program &program) = nullptr;
  bool isOptional = false; ///< the program is right without it, so a limit on passes may leave it out
  std::function<void(PassContext &)> run;
};

} // namespace mscclc::passes
