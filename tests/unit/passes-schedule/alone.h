// Candidates one by one: all passes, all ranks, nothing shared.
#pragma once

#include "statements.h"

#include "passes/residency.h"
#include "passes/schedule/candidates.h"
#include "passes/time/estimate.h"

#include <cmath>

namespace mscclc::passes::schedule {

/// Runs the passes of -O2 from one stage to another. False if one refuses the program.
inline bool runStages(ir::Program &program, const Target &target, Stage from, Stage to) {
  PassManagerOptions options;
  options.target = target;
  PassManager manager(std::move(options), propertiesOf(program));
  REQUIRE(manager.add(pipeline(maxOptLevel, from, to)).empty());
  ir::DiagnosticEngine silent;
  return manager.run(program, silent).ok;
}

/// What a candidate of `program` is before Stage::Prune.
inline Candidate alone(ir::Program program, const ScheduleChoices &choices, const ChooseOptions &options) {
  apply(choices, program);
  Candidate made{.choices = choices, .refused = true};
  if (!runStages(program, options.target, Stage::Place, Stage::Tidy) ||
      !runStages(program, options.target, Stage::Fit, Stage::Fit))
    return made;
  std::uint64_t most = residentBlocks(program, options.machine.gpu(), time::limitsOf(options.runner));
  if (program.movement.mostBlocks != 0)
    most = std::min<std::uint64_t>(most, program.movement.mostBlocks);
  for (const ir::Rank &rank : program.ranks) {
    made.threadBlocks += rank.blocks.size();
    if (rank.blocks.size() > most)
      return made;
  }
  const time::LaunchFigures figures =
      time::launchFigures(program, options.machine, options.runner, options.messageBytes);
  made.nanoseconds = figures.total;
  made.linkBytes = figures.linkBytes;
  made.refused = false;
  return made;
}

/// Checks that what is said of a candidate holds for its program.
inline void checkIsAlone(const Candidate &candidate, const ir::Program &program, const ChooseOptions &options) {
  const Candidate made = alone(program, candidate.choices, options);
  CHECK(candidate.refused == made.refused);
  if (made.refused)
    return;
  // Of ranks and instances that do the same, one is timed, and sums are taken in another order.
  CHECK(std::abs(candidate.nanoseconds - made.nanoseconds) <= 1e-9 * made.nanoseconds);
  CHECK(std::abs(candidate.linkBytes - made.linkBytes) <= 1e-9 * made.linkBytes);
  CHECK(candidate.threadBlocks == made.threadBlocks);
}

} // namespace mscclc::passes::schedule
