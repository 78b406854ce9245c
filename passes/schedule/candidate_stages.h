// The results of the parts of the passes for candidates, and the choices that each part reads.
#pragma once

#include "passes/pass_manager.h"
#include "passes/schedule/candidate.h"
#include "passes/schedule/least_blocks.h"

#include "ir/program.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace mscclc::passes::schedule {

/// A program between passes.
struct PassedProgram {
  ir::Program program;
  Properties holds = 0;                       ///< the properties of the program, which do not depend on choices
  std::optional<RepresentativeRank> one = {}; ///< replaces `program` if all ranks are equivalent
  std::vector<PassRecord> done = {};
  bool isRefused = false; ///< true: the last pass refused the program
  bool warns = false;     ///< some pass has a warning that is not reported yet
  Analyses analyses = {}; ///< analyses of the program, which do not depend on choices

  const ir::Program &launch() const { return one ? one->launch() : program; }
  void setInstances(std::uint32_t instances) {
    if (one)
      one->setInstances(instances);
    else
      program.instances = instances;
  }
  /// Returns the ranks that are planned.
  std::span<const ir::Rank> ranks() const { return one ? std::span(&one->rank(), 1) : std::span(program.ranks); }
};

/// The parts of the passes that run on a candidate, in order.
enum class Part : std::uint8_t {
  Place,    ///< Stage::Place
  Deal,     ///< Stage::Deal, which only sets the blocks of statements
  Schedule, ///< Stage::Schedule to Tidy
  Take,     ///< Stage::Fit, and the time model
};

/// Returns the choices that `part` reads besides the result of the part before it. Other choices have their defaults.
ScheduleChoices readBy(Part part, const ScheduleChoices &choices);

/// The result of one part. Candidates share it if they share the result of the part before, and agree on the choices
/// that the part reads.
struct Made {
  /// The program after this part, or after the pass that refused it. Empty after the next part has moved it away. If
  /// all ranks are equivalent, the program has only rank 0 from Part::Schedule until Candidates::complete().
  PassedProgram passed = {};
  /// After Part::Deal: the block of each statement, and the least number of blocks and operations.
  std::vector<std::optional<std::uint32_t>> blocks = {};
  LeastBlocks least = {};
  Candidate figures = {}; ///< set by Part::Take; before that, only figures of a refused candidate
  bool isScheduled() const { return !passed.isRefused && !passed.warns; }
};

/// A memo of the results of parts. The key is everything on which a result depends. If two results are equal, one is
/// kept for both, so that later parts run once.
class MadeParts {
public:
  /// Returns the result of `part` after `before`, which is null for the first part. Calls `run` if the result is not
  /// known yet.
  template <typename Run>
  std::shared_ptr<Made> of(Part part, const std::shared_ptr<Made> &before, const ScheduleChoices &choices, Run &&run) {
    const Key key{part, before.get(), readBy(part, choices)};
    if (std::shared_ptr<Made> known = find(key))
      return known;
    return add(key, run(key.read));
  }
  /// Returns how often `part` has run.
  std::size_t count(Part part) const {
    return std::ranges::count(made_, part, [](const auto &known) { return known.first.part; });
  }

private:
  struct Key {
    Part part;
    const Made *before;
    ScheduleChoices read;
    friend auto operator<=>(const Key &, const Key &) = default;
  };
  std::shared_ptr<Made> find(const Key &key) const;
  std::shared_ptr<Made> add(const Key &key, Made made);

  std::map<Key, std::shared_ptr<Made>> made_;
};

} // namespace mscclc::passes::schedule
