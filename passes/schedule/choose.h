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

/// The target, the machine and the message size for which a program is scheduled.
struct ChooseOptions {
  const time::Machine &machine;
  time::Runner runner = time::Runner::Executor;
  std::uint64_t messageBytes = 0; ///< bytes of the input; for an AllGather, of the output
  Target target;
  int level =
      maxOptLevel; ///< the level of the passes that will run; candidates are always compared at the highest level
  Pass prune = {}; ///< replaces prune-sync for programs that are only timed
  bool timesOnly = false; ///< times a candidate even if it is the only one, for a comparison with other programs
  bool keeps = true;      ///< the caller wants the chosen program in the form after Stage::Tidy
};

/// The chosen candidate, and the candidates with which it was compared.
struct Choice {
  ScheduleChoices choices;
  std::vector<Candidate> tried; ///< all candidates, with figures before Stage::Prune; empty if nothing was chosen
  /// The best candidates with their figures after all passes. Empty if no second comparison was made.
  std::vector<Candidate> finished;
  double nanoseconds = 0;       ///< time of a launch, by the time model; 0 if it was not timed
  std::uint32_t candidates = 0; ///< number of candidates that were tried
  std::uint32_t refused = 0;    ///< number of candidates that the target refuses
  std::vector<PassRecord> done; ///< records of the passes up to Stage::Tidy, if they ran on the program

  /// Returns the chosen one of `tried`; null if nothing was chosen.
  const Candidate *taken() const;
};

/// Chooses the protocol and the number of instances where `program` leaves them open, and thread blocks, pipeline steps
/// and whether reductions read their operands. If the order of sums is open, it also chooses the statements that go
/// through a switch. Writes the choices into `program`, where place and later passes read them.
///
/// The search starts from one candidate and goes through a table of moves (choose.cpp). A move changes one choice. The
/// search continues from the changed candidate if that is better, and repeats the move. Some moves start the search
/// again. Fewer candidates are tried for larger programs. If only one is tried, it is not timed. But if all ranks of a
/// program are equivalent and the message is long, more candidates are tried. They are planned and timed as one rank.
///
/// Then all passes run on the best candidate (bestOf) and the fastest others, at most three in total, and the best of
/// these is chosen. This step is left out for a large program. A candidate is refused if the target, the machine or the
/// program's limit on blocks does not allow it. If other candidates are near the best one, the comparison also
/// considers the unmeasured parameters of the machine on which times rest (bestOf). If all candidates are refused, all
/// passes run on the candidate nearest to the limits, because pruning makes blocks shorter. If that candidate is
/// refused, too, the choices stay open, and the passes report why. The program then has relay blocks if these were
/// tried.
Choice choose(ir::Program &program, const ChooseOptions &options);

/// A program that choose() has scheduled, with its choices and the message size.
struct ScheduledProgram {
  ir::Program program;
  Choice choice;
  std::uint64_t messageBytes = 0; ///< as in ChooseOptions
};

/// The fastest schedule with a limit on thread blocks.
struct TimeByBlocks {
  std::uint32_t most = 0;         ///< thread blocks that a rank may have
  std::uint64_t threadBlocks = 0; ///< number of blocks on all ranks
  double nanoseconds = 0;         ///< time of a launch, after all passes
};

/// Finds the fastest schedule for each of several limits on the thread blocks of a rank: 4, 8 and so on, up to the most
/// that choose() tries. A limit that allows no schedule has no entry. Takes as long as several calls of choose().
std::vector<TimeByBlocks> timesByBlocks(const ir::Program &program, const ChooseOptions &options);

} // namespace mscclc::passes::schedule
