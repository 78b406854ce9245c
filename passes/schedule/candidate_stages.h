// What the parts of the passes make of candidates, and which of what is open each part reads.
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

/// A program on its way through passes.
struct Passed {
  ir::Program program;
  Properties holds = 0;                       ///< that it has, whatever is open
  std::optional<RepresentativeRank> one = {}; ///< in its place, where all ranks do the same
  std::vector<PassRecord> done = {};
  bool isRefused = false; ///< by the last of them
  bool warns = false;     ///< some warning is still to be said
  Analyses analyses = {}; ///< of the program; what is open is none of their business

  const ir::Program &launch() const { return one ? one->launch() : program; }
  void setInstances(std::uint32_t instances) {
    if (one)
      one->setInstances(instances);
    else
      program.instances = instances;
  }
  /// The ranks that are planned.
  std::span<const ir::Rank> ranks() const { return one ? std::span(&one->rank(), 1) : std::span(program.ranks); }
};

/// The parts of a candidate's way through passes.
enum class Part : std::uint8_t {
  Place,    ///< Stage::Place
  Deal,     ///< Stage::Deal: it changes blocks alone
  Schedule, ///< Stage::Schedule to Tidy
  Take,     ///< Stage::Fit, and the time
};

/// Of what is open, that which `part` reads besides what the part before it has made; all else is as by default.
Open readBy(Part part, const Open &open);

/// What one part makes: the same for all candidates for which the part before it made the same, and which agree on what
/// it reads.
struct Made {
  /// As far as it went; empty once the next part has taken it. After Part::Schedule where all ranks do the same, rank 0
  /// alone, until Candidates::complete().
  Passed passed = {};
  /// After Part::Deal: the block of each statement, and what these have at least.
  std::vector<std::optional<std::uint32_t>> blocks = {};
  LeastBlocks least = {};
  Candidate figures = {}; ///< after Part::Take; before it, only what a refused candidate has
  bool isScheduled() const { return !passed.isRefused && !passed.warns; }
};

/// What parts have made, by all that it depends on. Where two come out the same, one of them stays, so that the parts
/// that follow are run once.
class MadeParts {
public:
  /// What `part` makes of `before`, which is null before the first part: as it is known, or what `run` returns.
  template <typename Run>
  std::shared_ptr<Made> of(Part part, const std::shared_ptr<Made> &before, const Open &open, Run &&run) {
    const Key key{part, before.get(), readBy(part, open)};
    if (std::shared_ptr<Made> known = find(key))
      return known;
    return add(key, run(key.read));
  }
  /// Returns how often `part` was run.
  std::size_t count(Part part) const {
    return std::ranges::count(made_, part, [](const auto &known) { return known.first.part; });
  }

private:
  struct Key {
    Part part;
    const Made *before;
    Open read;
    friend auto operator<=>(const Key &, const Key &) = default;
  };
  std::shared_ptr<Made> find(const Key &key) const;
  std::shared_ptr<Made> add(const Key &key, Made made);

  std::map<Key, std::shared_ptr<Made>> made_;
};

} // namespace mscclc::passes::schedule
