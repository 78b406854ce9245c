// What a pass is: a named rewrite or check of a whole program, with what it needs and what it leaves.
#pragma once

#include "ir/diagnostics.h"
#include "ir/program.h"
#include "passes/analyses.h"
#include "passes/target.h"

#include <functional>
#include <string_view>
#include <vector>

namespace mscclc::passes {

/// Facts about a program that passes rely on; a set is an or of these.
enum Property : std::uint8_t {
  DataSyncLowered = 1, ///< no operation carries a DataSync: nops say it all
  SingleInstance = 2,  ///< replication is done
  Scheduled = 4,       ///< no statement of the movement form is left; all passes but those of passes/schedule need it
  Placed = 8,          ///< statements say who executes them, and through what (passes/schedule/placement.h)
  Cut = 16,            ///< statements say in which thread block
};
using Properties = std::uint8_t;
inline constexpr Property allProperties[] = {Placed, Cut, Scheduled, DataSyncLowered, SingleInstance};

/// "lowered data sync", "thread blocks": the words for one property.
std::string_view describe(Property property);

/// Counters of one pass, in the order in which they were first counted.
class PassStats {
public:
  struct Counter {
    std::string_view name; ///< "operations fused"; a literal
    std::uint64_t value = 0;
  };
  void count(std::string_view name, std::uint64_t n = 1);
  const std::vector<Counter> &counters() const { return counters_; }

private:
  std::vector<Counter> counters_;
};

struct PassContext {
  ir::Program &program;
  ir::DiagnosticEngine &diags;
  const Target &target;
  PassStats &stats;
  Analyses &analyses;           ///< of the program, as it was when the pass began
  const bool isOneRank = false; ///< rank 0 alone has thread blocks, as in RepresentativeRank::launch()
};

/// A pass reports all errors it finds; the pass manager stops after it if there were any. It keeps the analyses that
/// hold of what it leaves.
struct Pass {
  std::string_view name = {};    ///< set from passes.def
  std::string_view summary = {}; ///< set from passes.def
  Properties needs = 0;
  Properties provides = 0;
  /// True if a program has what the pass provides, whoever made it so. Of thread blocks that statements are yet to be
  /// made into, nothing is known. Linear. Null where nothing is provided.
  bool (*isProvided)(const ir::Program &program) = nullptr;
  bool isOptional = false; ///< the program is right without it: a limit on passes leaves it out
  std::function<void(PassContext &)> run;
};

} // namespace mscclc::passes
