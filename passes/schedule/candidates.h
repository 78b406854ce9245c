// The candidates that choose compares, each taken through the passes of its goal and timed, as far as it is not known
// from another one.
#pragma once

#include "passes/schedule/candidate_stages.h"
#include "passes/schedule/choose.h"
#include "passes/schedule/least_blocks.h"

#include "ir/program.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace mscclc::passes::schedule {

/// Writes what is open into `program`, where the passes read it.
void apply(const Open &open, ir::Program &program);

/// What was tried of one program, in order.
///
/// Where all ranks of a candidate do the same, it is rank 0 that goes through passes and is timed (ir::FoldedRanks).
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
  const Stage &stageOf(std::size_t candidate) const { return stages_[candidate]; }
  /// True if place makes the same of both.
  bool arePlacedAlike(std::size_t a, std::size_t b) const { return arePlacedAlike(stages_[a], stages_[b]); }

  /// Tries these choices, which were not tried before. `isOnly`: no other candidate is expected, so that this one is
  /// not timed.
  const Candidate &tryOut(const Open &open, bool isOnly);
  /// Makes of a candidate that is not refused the program of all ranks. False if it is refused for that.
  bool complete(std::size_t candidate);
  /// Takes a completed candidate through Goal::pruning and the rest. Its figures after that; nothing if it is refused.
  std::optional<Candidate> finish(std::size_t candidate) const;

private:
  bool run(std::string_view list, Passed &passed, bool mayFold = false) const;
  const Candidate *sameAsLast(bool alike = false) const;
  static bool arePlacedAlike(const Stage &a, const Stage &b) {
    return a.placed && b.placed && (a.placed == b.placed || a.placed->isAs(*b.placed));
  }
  bool takeOver(Stage &last) const;
  Passed place(const Open &open, Stage &stage, bool isOnly);
  bool isTooMuch(const Open &open, const LeastBlocks &least, Excess &excess) const;
  bool isLikelyRefused(const LeastBlocks &least) const;
  void measure(const ir::Program &program, std::uint32_t instances, Stage &stage) const;
  bool hasTooManyChannels(const ir::Program &program) const;
  void scheduleDealt(Stage &stage, Passed &passed, bool mayFold) const;
  bool schedule(const Open &open, Stage &stage, bool isOnly);
  bool isTaken(Passed &passed, const Open &open, Stage &stage) const;
  bool isTooLong(Stage &stage) const;
  void time(Candidate &candidate, Stage &stage, bool isOnly);
  void takeFigures(Candidate &candidate, const ir::Program &program) const;

  const ir::Program &program_;
  const Goal &goal_;
  const time::Machine machine_;  ///< with room for the program
  const std::uint64_t mostHeld_; ///< thread blocks that a rank may have
  std::vector<Candidate> tried_;
  std::vector<Stage> stages_;                         ///< [candidate]
  std::vector<std::shared_ptr<const Placed>> placed_; ///< what place has made of candidates
};

} // namespace mscclc::passes::schedule
