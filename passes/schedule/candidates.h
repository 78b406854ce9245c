// The candidates that choose compares, each taken through the passes of its goal and timed, as far as it is not known
// from another one.
#pragma once

#include "passes/schedule/candidate_stages.h"
#include "passes/schedule/choose.h"

#include "ir/program.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace mscclc::passes::schedule {

/// Writes what is open into `program`, where the passes read it.
void apply(const Open &open, ir::Program &program);

/// What the parts have made of a candidate; null where it did not come so far.
struct Way {
  std::shared_ptr<Made> placed = {};
  std::shared_ptr<Made> scheduled = {};
};

/// What was tried of one program, in order.
///
/// Where all ranks of a candidate do the same, it is rank 0 that goes through passes and is timed (RepresentativeRank).
/// Ranks may still touch chunks of other numbers, which some limits of executors are about: so a candidate that is to
/// be taken is completed first.
class Candidates {
public:
  /// `program` and `goal` stay where they are.
  Candidates(const ir::Program &program, const Goal &goal);

  const std::vector<Candidate> &tried() const { return tried_; }
  std::vector<Candidate> takeTried() { return std::move(tried_); }
  /// The number of the candidate with these choices, if it was tried.
  std::optional<std::size_t> find(const Open &open) const;
  const Way &wayOf(std::size_t candidate) const { return ways_[candidate]; }
  /// Returns the number of candidates that were timed. Those that parts make the same of are one.
  std::size_t numTaken() const { return made_.count(Part::Take); }
  /// Tries these choices, which were not tried before. `isOnly`: no other candidate is expected, so that this one is
  /// not timed.
  const Candidate &tryOut(const Open &open, bool isOnly);
  /// Makes of a candidate that is not refused the program of all ranks. False if it is refused for that.
  bool complete(std::size_t candidate);
  /// Takes a completed candidate through the passes that are left. Returns its figures after that; nothing if it is
  /// refused.
  std::optional<Candidate> finish(std::size_t candidate) const;
  /// Takes a refused candidate through all passes. Pruning may make its blocks short enough: then it is refused no
  /// more.
  void finishRefused(std::size_t candidate);

private:
  bool run(Stage from, Stage to, Passed &passed) const;
  Made place(const Open &read) const;
  Made deal(const Open &read, Passed placed) const;
  bool isTooMuch(const LeastBlocks &least, Candidate &candidate) const;
  bool isLikelyRefused(const LeastBlocks &least) const;
  void measure(const Passed &passed, std::uint32_t instances, Made &made) const;
  bool hasTooManyChannels(std::span<const ir::Rank> ranks) const;
  bool synchroniseOne(Passed &passed) const;
  Made schedule(Passed dealt, bool mayBeOne) const;
  bool schedule(Candidate &candidate, Way &way, bool isOnly);
  Made take(Passed passed, const Open &open, bool isOnly) const;
  void takeFigures(Candidate &candidate, const Passed &passed) const;

  const ir::Program &program_;
  const Goal &goal_;
  const time::Machine machine_;  ///< with room for the program
  const std::uint64_t mostHeld_; ///< thread blocks that a rank may have
  std::vector<Candidate> tried_;
  std::vector<Way> ways_; ///< [candidate]
  MadeParts made_;
};

} // namespace mscclc::passes::schedule
