// Makes algorithms for a collective, a machine and a message size.
#pragma once

#include "passes/schedule/choose.h"

#include "ir/program.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mscclc::passes::synthesize {

/// An algorithm that was compared.
struct Attempt {
  std::string name;       ///< "trees", "bruck4"
  double nanoseconds = 0; ///< time of a launch by the time model; 0: no schedule fits the target or the machine
  bool isBound = false;   ///< `nanoseconds` is a lower bound above the best time; the algorithm was not scheduled
  /// The unmeasured parameters of the machine on which the time rests.
  time::ParameterSet restsOn = {};
};

/// The best program, and what is known about it.
struct Synthesis {
  ir::Program program;           ///< movement statements, whose schedule is open
  std::vector<Attempt> attempts; ///< the best first, then sorted by time; attempts without a schedule come last
  double nanoseconds = 0;        ///< time of a launch of the best program
  std::string links;             ///< a sentence: the limit by the links, and the share of it that trees reach
  /// `program` as it was scheduled for the comparison. Nothing if that was not kept.
  std::optional<schedule::ScheduledProgram> scheduled = {};
};

/// Returns the program for `kind` on all GPUs of the machine that is best by the time model. Compares trees (forest.h)
/// with the symmetric algorithms (algorithms.h). `kind`: one of synthesizedKinds(). `root`: the root, if the collective
/// has one. `options`: as for schedule::choose(). If no program is found, returns nothing and sets `why` to the reason.
std::optional<Synthesis> synthesize(ir::CollectiveKind kind, std::uint32_t root, const schedule::ChooseOptions &options,
                                    std::string &why);

/// Returns the collectives that can be synthesised.
const std::vector<ir::CollectiveKind> &synthesizedKinds();

} // namespace mscclc::passes::synthesize
