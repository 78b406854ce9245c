// How long a program takes on a machine, and why.
#pragma once

#include "passes/representative_rank.h"
#include "passes/time/costs.h"
#include "passes/time/folding.h"
#include "passes/time/machine.h"
#include "passes/time/timeline.h"

#include "ir/program.h"

#include <array>
#include <cstdint>

namespace mscclc::passes::time {

struct Estimate {
  std::uint64_t messageBytes = 0;
  Time total = 0;        ///< of a launch, in nanoseconds
  Time linkBound = 0;    ///< the launch and the time that the busiest resource needs at least
  Time latencyBound = 0; ///< the chain of latencies if data took no time to flow
  /// Of the critical path, by what the time went by for; their sum is `total`.
  std::array<Time, causeCount> spent{};
  Cause bound = Cause::Launch; ///< the largest of `spent`
  bool complete = true;        ///< false: some block waits for ever, and no number means anything
  /// As far as it was walked: pipelines that go round very often are left after some of their iterations, and `total`
  /// is extrapolated.
  Timeline timeline;
  bool extrapolated = false;
};

/// Estimates one launch with a message of so many bytes (of the input, or an AllGather's output).
/// Requires: a program that ir::checkStructure accepts, with thread blocks (ir::requireBlocks), and that cannotRun()
/// has nothing against. `record`: the timeline has messages and rates as well, for pictures.
Estimate estimate(const ir::Program &program, const Machine &machine, Runner runner, std::uint64_t messageBytes,
                  bool record = false);

/// What choices are made by, without the rest of an estimate: that takes less than half the time.
struct LaunchFigures {
  Time total = 0;       ///< as in Estimate; infinity where it is not complete
  double linkBytes = 0; ///< line bytes on the busiest link or network card, one direction
};
/// `most`: what is walked for the rest of the program where the program and the machine allow that
/// (analysis/block_symmetry.h). Ranks that do the same take the same time if they are as near to each other on the
/// machine, up to the order in which a proxy takes what comes at once; the links of a mesh are not compared.
LaunchFigures launchFigures(const ir::Program &program, const Machine &machine, Runner runner,
                            std::uint64_t messageBytes, Folding most = {});
/// Those of a launch of which one rank is planned, on a machine that is no mesh. `instances`: of each of these blocks,
/// the first is walked for all where they do the same.
LaunchFigures launchFigures(const RepresentativeRank &one, const Machine &machine, Runner runner,
                            std::uint64_t messageBytes, std::uint32_t instances);

/// The `total` alone.
Time launchTime(const ir::Program &program, const Machine &machine, Runner runner, std::uint64_t messageBytes);

} // namespace mscclc::passes::time
