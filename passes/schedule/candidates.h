// The candidates that choose compares. The passes run on each of them, and the time model times it. Results that
// another candidate shares are reused.
#pragma once

#include "passes/schedule/candidate_stages.h"
#include "passes/schedule/choose.h"
#include "passes/time/estimate.h"

#include "ir/program.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace mscclc::passes::schedule {

/// Writes the choices into `program`, where the passes read them.
void apply(const ScheduleChoices &choices, ir::Program &program);

/// The results of the parts for a candidate; null for a part that did not run.
struct Way {
  std::shared_ptr<Made> placed = {};
  std::shared_ptr<Made> scheduled = {};
};

/// The candidates of one program, in the order in which they were tried.
///
/// If all ranks of a candidate are equivalent, passes and time model run on rank 0 alone (RepresentativeRank). Other
/// ranks may touch chunks with other numbers, and some limits of executors depend on these numbers. So a candidate is
/// completed for all ranks before it is chosen.
class Candidates {
public:
  /// `program` and `options` must outlive this.
  Candidates(const ir::Program &program, const ChooseOptions &options);

  const std::vector<Candidate> &tried() const { return tried_; }
  std::vector<Candidate> takeTried() { return std::move(tried_); }
  /// Returns the number of the candidate with these choices, if it was tried.
  std::optional<std::size_t> find(const ScheduleChoices &choices) const;
  const Way &wayOf(std::size_t candidate) const { return ways_[candidate]; }
  /// Returns how often `part` has run. Candidates that share their results count once.
  std::size_t numMade(Part part) const { return made_.count(part); }
  /// True if rank 0 was planned for all ranks of a candidate.
  bool isOneRank(std::size_t candidate) const {
    return ways_[candidate].scheduled && ways_[candidate].scheduled->passed.one;
  }
  /// What is expected of a candidate before it is tried.
  struct Expected {
    bool isOnly = false;        ///< no other candidate follows, so this one is not timed
    bool unlessOneRank = false; ///< if all ranks are equivalent, the only candidate is timed, too
    bool mustBeOneRank = false; ///< the candidate is refused if its ranks are not equivalent
  };
  /// Tries these choices, which were not tried before.
  const Candidate &tryOut(const ScheduleChoices &choices, const Expected &expected);
  /// Finds the unmeasured parameters of the machine on which a candidate's time rests. Does nothing if the candidate is
  /// refused or was not timed, or if its parameters are known.
  void weigh(std::size_t candidate);
  /// Plans all ranks of a candidate that is not refused yet. Returns false if the candidate is refused then.
  bool complete(std::size_t candidate);
  /// Runs the remaining passes on a completed candidate. Returns its figures after these passes; nothing if it is
  /// refused. The unmeasured parameters on which its time rests are not computed again.
  std::optional<Candidate> finish(std::size_t candidate) const;
  /// Runs all passes on a refused candidate. The candidate is no longer refused if pruning makes its blocks short
  /// enough.
  void finishRefused(std::size_t candidate);

private:
  bool run(Stage from, Stage to, PassedProgram &passed) const;
  Made place(const ScheduleChoices &read) const;
  Made deal(const ScheduleChoices &read, PassedProgram placed) const;
  bool isTooMuch(const LeastBlocks &least, Candidate &candidate) const;
  bool isLikelyRefused(const LeastBlocks &least) const;
  void measure(const PassedProgram &passed, std::uint32_t instances, Made &made) const;
  bool hasTooManyChannels(std::span<const ir::Rank> ranks) const;
  bool synchroniseOne(PassedProgram &passed) const;
  Made schedule(PassedProgram dealt, bool mayBeOne, bool mustBeOne = false) const;
  bool schedule(Candidate &candidate, Way &way, const Expected &expected);
  Made take(PassedProgram passed, const ScheduleChoices &choices, bool isOnly) const;
  time::LaunchFigures figuresOn(const time::Machine &machine, const PassedProgram &passed,
                                std::uint32_t instances) const;
  void takeFigures(Candidate &candidate, const PassedProgram &passed) const;

  const ir::Program &program_;
  const ChooseOptions &options_;
  const time::Machine machine_;  ///< the machine of the options, with enough GPUs for the program
  const std::uint64_t mostHeld_; ///< the most thread blocks that a rank may have
  std::vector<Candidate> tried_;
  std::vector<Way> ways_; ///< [candidate]
  MadeParts made_;
};

} // namespace mscclc::passes::schedule
