// The choices that a movement program leaves open, made by the time model.
#pragma once

#include "passes/pass_manager.h"
#include "passes/pipeline.h"
#include "passes/schedule/candidate.h"
#include "passes/target.h"
#include "passes/time/costs.h"
#include "passes/time/machine.h"

#include "ir/program.h"

#include <cstdint>
#include <vector>

namespace mscclc::passes::schedule {

/// What a program is scheduled for.
struct Goal {
  const time::Machine &machine;
  time::Runner runner = time::Runner::Executor;
  std::uint64_t messageBytes = 0; ///< of the input, or an AllGather's output
  const Target &target;
  int level = maxOptLevel; ///< of the passes that will run; candidates are compared as the highest makes them
  Pass prune = {};         ///< replaces prune-sync for programs that are only timed
  bool keeps = true;       ///< the program that is chosen is wanted as Stage::Tidy leaves it
};

/// What was chosen, and what it was compared with.
struct Choice {
  Open open;
  std::vector<Candidate> tried; ///< with what was chosen; figures are before Stage::Prune. Empty if nothing was chosen
  /// The best of these with their figures after all passes; empty where they were not compared again.
  std::vector<Candidate> finished;
  double nanoseconds = 0;       ///< of a launch, by the time model; 0 if it was not timed
  std::uint32_t candidates = 0; ///< number of those tried
  std::uint32_t refused = 0;    ///< number of those that the target does not take
  std::vector<PassRecord> done; ///< of the passes to Stage::Tidy, if the program has been through them
};

/// Chooses the protocol and the number of instances where `program` leaves them open, and thread blocks, pipeline steps
/// and how reductions get at their operands. In programs whose order of sums is open it also chooses what goes through
/// a switch. Writes the choices into `program`, where place and the passes after it read them.
///
/// The search starts from one candidate and goes through a table of moves (choose.cpp). A move changes one choice. The
/// search goes on from the changed candidate if that is better, and repeats the move. Some moves start the search anew.
/// The larger a program is, the fewer candidates are tried. Where the first one is the only one, it is not timed.
///
/// The best candidate (bestOf) and the fastest others, three in all, then run through all passes, and the best of these
/// is taken. For a large program this is left out. A candidate is refused if the target, the machine or the program's
/// limit on blocks does not take it. Where all are refused, the one nearest to the limits is tried after all passes,
/// because pruning makes blocks shorter. If that is refused, too, the program stays as it is for the passes to report
/// why; it then has relay blocks if these were tried.
Choice choose(ir::Program &program, const Goal &goal);

} // namespace mscclc::passes::schedule
