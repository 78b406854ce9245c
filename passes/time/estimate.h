// The time that a program takes on a machine, and its causes.
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
  Time total = 0;        ///< time of a launch, in nanoseconds
  Time linkBound = 0;    ///< time of the launch itself, plus the time that the busiest resource needs at least
  Time latencyBound = 0; ///< time of the chain of latencies, as if data took no time to flow
  /// The time on the critical path by cause. The sum is `total`.
  std::array<Time, causeCount> spent{};
  Cause bound = Cause::Launch; ///< cause with the largest part of `spent`
  bool complete = true;        ///< false if some block waits forever; then the numbers have no meaning
  /// The timeline of the walked part. If a pipeline has very many iterations, only some of them are walked, and `total`
  /// is extrapolated.
  Timeline timeline;
  bool extrapolated = false;
};

/// The contents of an estimate's timeline.
enum class Detail : std::uint8_t {
  /// If all ranks do the same (fold_ranks.h), only rank 0 is walked. The timeline has the spans of rank 0, and the
  /// traffic of all ranks. Otherwise it is the same as for Ranks.
  Folded,
  Ranks,    ///< the spans and the traffic of all ranks
  Pictures, ///< the same as Ranks, with messages and rates
};

/// Estimates one launch with a message of this many bytes (of the input, or an AllGather's output). `rows` are the live
/// rows of a program of rows; if it is null, all rows are live. With `rows`, nothing is folded, and the exchange of
/// counts takes no time. Requires: a program that ir::checkStructure accepts, with thread blocks (ir::requireBlocks),
/// and for which cannotRun() returns nothing.
Estimate estimate(const ir::Program &program, const Machine &machine, Runner runner, std::uint64_t messageBytes,
                  Detail detail = Detail::Ranks, const LiveRows *rows = nullptr);

/// The figures of a launch by which programs are chosen. They take less than half the time of an estimate.
struct LaunchFigures {
  Time total = 0;       ///< the same as Estimate::total; infinity if some block waits forever
  double linkBytes = 0; ///< bytes on the line of the busiest link or network card, in one direction
};
/// Computes the figures of a launch. `most` is the largest folding to use, if program and machine allow it
/// (analysis/block_symmetry.h). Ranks are folded if they do the same and have the same distances on the machine. Then
/// they take the same time. Only the order in which a proxy takes simultaneous requests may differ. On an uneven
/// machine, no ranks are folded.
LaunchFigures launchFigures(const ir::Program &program, const Machine &machine, Runner runner,
                            std::uint64_t messageBytes, Folding most = {});
/// Computes the figures of a launch in which only one rank is planned. The machine must not be uneven. Each group of
/// `instances` neighbouring blocks does the same work, so only the first block of a group is walked.
LaunchFigures launchFigures(const RepresentativeRank &one, const Machine &machine, Runner runner,
                            std::uint64_t messageBytes, std::uint32_t instances);

/// Returns LaunchFigures::total.
Time launchTime(const ir::Program &program, const Machine &machine, Runner runner, std::uint64_t messageBytes);

} // namespace mscclc::passes::time
