// How far candidates have come that choose compares, and what they share.
#pragma once

#include "passes/pass_manager.h"
#include "passes/schedule/block_search.h"
#include "passes/schedule/choose.h"

#include "ir/movement.h"
#include "ir/program.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace mscclc::passes::schedule {

/// A program on its way through passes.
struct Passed {
  ir::Program program;
  Properties holds = 0; ///< that it has, whatever is open
  std::vector<PassRecord> done = {};
  bool isRefused = false; ///< by the last of them
  /// After Goal::tidying: some block passes the target's limits. Instances and an executor's own needs make none
  /// shorter.
  bool isTooLong = false;
  bool warns = false;     ///< some warning is still to be said
  Analyses analyses = {}; ///< of the program; what is open is none of their business
};

/// A program after Goal::placing. Of what is open, the passes in Goal::dealing read the protocol, the step and the
/// blocks besides.
struct Placed {
  Open open; ///< of the candidate that it was made for
  Passed passed;

  /// True if it is the same whether reductions pull or not: none has an operand of another rank but in packets.
  bool isAnySide() const {
    return std::ranges::all_of(passed.program.movement.statements,
                               [](const ir::Move &s) { return !s.via || s.packets.value_or(false); });
  }
  bool isAs(const Placed &other) const {
    const ir::Program &a = passed.program, &b = other.passed.program;
    return a.movement.statements == b.movement.statements && a.movement.places == b.movement.places &&
           std::ranges::equal(a.ranks, b.ranks, {}, &ir::Rank::scratchChunks, &ir::Rank::scratchChunks);
  }
};

/// The blocks of statements. With what is placed, it is what passes up to Goal::dealing make of a candidate. Of what is
/// open, those after them, to Goal::tidying, read the protocol and the step besides; and the instances, to refuse what
/// takes more blocks than the program allows.
using Dealt = std::vector<std::optional<std::uint32_t>>;

/// How far a candidate has come. Those that come out the same have this in common, with the instances of one of them.
struct Stage {
  /// After Goal::tidying, or as far as it went; null if it has not been through that. Where all ranks do the same, rank
  /// 0 alone, until Candidates::complete().
  std::shared_ptr<Passed> passed = {};
  std::shared_ptr<const Placed> placed = {}; ///< once it has been through Goal::placing
  std::shared_ptr<const Dealt> dealt = {};   ///< and Goal::dealing
  Excess excess = {};                        ///< where it is refused
  bool lacksChannels = false;                ///< it is refused because blocks have too many of them
  bool isMeasured = false;                   ///< `excess` is of thread blocks, and not of what they have at least

  bool isStuck() const { return passed && passed->isRefused; }
  bool isScheduled() const { return passed && !passed->isRefused && !passed->warns; }
};

} // namespace mscclc::passes::schedule
