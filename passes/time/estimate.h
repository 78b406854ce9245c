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
  Time linkBound = 0;    ///< the launch, and the time that the busiest resource needs at least
  Time latencyBound = 0; ///< the chain of latencies, if data took no time to flow
  /// The time on the critical path by cause. The sum is `total`.
  std::array<Time, causeCount> spent{};
  Cause bound = Cause::Launch; ///< the largest of `spent`
  bool complete = true;        ///< false: some block waits forever, and the numbers have no meaning
  /// The walked part. A pipeline with very many iterations is walked for some of them, and `total` is extrapolated.
  Timeline timeline;
  bool extrapolated = false;
};

/// What the timeline of an estimate has.
enum class Detail : std::uint8_t {
  Folded,   ///< the spans of rank 0, which alone is walked, and the traffic of all, if all do the same (fold_ranks.h)
  Ranks,    ///< the spans and the traffic of all ranks
  Pictures, ///< also messages and rates
};

/// Estimates one launch with a message of this many bytes (of the input, or an AllGather's output).
/// `rows`: the live rows of a program of rows; null: all are live. With rows, nothing is folded. The exchange of counts
/// takes no time here. Requires: a program that ir::checkStructure accepts, with thread blocks (ir::requireBlocks), and
/// for which cannotRun() returns nothing.
Estimate estimate(const ir::Program &program, const Machine &machine, Runner runner, std::uint64_t messageBytes,
                  Detail detail = Detail::Ranks, const LiveRows *rows = nullptr);

/// The figures by which choices are made. They take less than half the time of an estimate.
struct LaunchFigures {
  Time total = 0;       ///< time as in Estimate; infinity if it is not complete
  double linkBytes = 0; ///< line bytes on the busiest link or network card, in one direction
};
/// Computes the figures of a launch. `most`: the largest folding to use, if program and machine allow it
/// (analysis/block_symmetry.h). Ranks that do the same take the same time if they have the same distances on the
/// machine. Only the order in which a proxy takes simultaneous requests may differ. The links of a mesh are not
/// compared.
LaunchFigures launchFigures(const ir::Program &program, const Machine &machine, Runner runner,
                            std::uint64_t messageBytes, Folding most = {});
/// Does the same for a launch with one planned rank, on a machine that is not a mesh. Each group of `instances`
/// neighbouring blocks does the same work, so only the first block of a group is walked.
LaunchFigures launchFigures(const RepresentativeRank &one, const Machine &machine, Runner runner,
                            std::uint64_t messageBytes, std::uint32_t instances);

/// Returns only the `total`.
Time launchTime(const ir::Program &program, const Machine &machine, Runner runner, std::uint64_t messageBytes);

} // namespace mscclc::passes::time
