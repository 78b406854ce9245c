#include "passes/time/estimate.h"

#include "ir/structure.h"
#include "passes/analysis/block_symmetry.h"
#include "passes/time/fold_ranks.h"
#include "passes/time/walk.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

namespace mscclc::passes::time {

namespace {

/// The most operations of a walk. An operation counts once for each iteration. Further iterations are extrapolated.
constexpr std::uint64_t mostOperations = 200'000;

std::uint64_t operations(std::span<const ir::Rank> ranks, const MessageBytes &bytes, std::uint64_t mostIterations) {
  std::uint64_t total = 0;
  for (const ir::Op &op : ir::opsOf(ranks))
    total += 1 + (op.kind == ir::OpKind::Pipeline ? std::min(bytes.iterations(op), mostIterations) * op.bodySize : 0);
  return total;
}

std::uint64_t longestPipeline(std::span<const ir::Rank> ranks, const MessageBytes &bytes) {
  std::uint64_t longest = 0;
  for (const ir::Op &op : ir::opsOf(ranks))
    if (op.kind == ir::OpKind::Pipeline)
      longest = std::max(longest, bytes.iterations(op));
  return longest;
}

/// The number of iterations of the longest pipeline, and the number of them that are walked.
struct Iterations {
  std::uint64_t all = 0, some = 0;
  bool extrapolated() const { return some < all; }
  std::uint64_t fewer() const { return some / 2; }
  /// Returns the factor for extrapolation: the number of omitted iterations, divided by the number of walked iterations
  /// that represent them. Those are the walked iterations from fewer() on.
  double further() const { return static_cast<double>(all - some) / static_cast<double>(some - fewer()); }
};

/// Returns how many iterations to walk. Each of `ranks` represents `copies` ranks that do the same.
Iterations iterationsOf(std::span<const ir::Rank> ranks, std::uint64_t copies, const MessageBytes &bytes) {
  Iterations result;
  result.all = result.some = longestPipeline(ranks, bytes);
  while (result.some > 16 && copies * operations(ranks, bytes, result.some) > mostOperations)
    result.some /= 2;
  return result;
}

Timeline walk(const ir::ProgramIndex &index, const Machine &machine, Runner runner, const MessageBytes &bytes,
              WalkOptions options) {
  FluidNetwork network;
  options.heldAtOnce = residentBlocks(index.program, machine.gpu(), limitsOf(runner));
  const Costs costs(index.program, machine, runner, network, options.folding, options.otherEnds);
  return Walk(index, costs, network, bytes, options).run();
}

/// Returns the least time that the busiest resource needs for its traffic.
Time busiest(const Timeline &timeline) {
  Time longest = 0;
  for (const Traffic &traffic : timeline.traffic)
    longest = std::max(longest, traffic.bytes / traffic.capacity);
  return longest;
}

bool isLink(Cause kind) {
  return kind == Cause::LinkOut || kind == Cause::LinkIn || kind == Cause::NicOut || kind == Cause::NicIn;
}

/// Gives each of `ranks` ranks the traffic of rank 0, without the peers of its links.
void spreadTraffic(Timeline &timeline, std::size_t ranks) {
  const std::vector<Traffic> first = timeline.traffic;
  for (std::uint32_t rank = 1; rank < ranks; ++rank)
    for (Traffic traffic : first) {
      traffic.rank = rank;
      traffic.peer = Span::none;
      timeline.traffic.push_back(traffic);
    }
}

double bytesOnBusiestLink(const Timeline &timeline) {
  double most = 0;
  for (const Traffic &traffic : timeline.traffic)
    if (isLink(traffic.kind))
      most = std::max(most, traffic.bytes);
  return most;
}

} // namespace

Estimate estimate(const ir::Program &program, const Machine &machine, Runner runner, std::uint64_t messageBytes,
                  Detail detail, const LiveRows *rows) {
  ir::requireBlocks(program);
  const MessageBytes bytes(program, messageBytes, rows);
  Estimate result;
  result.messageBytes = messageBytes;
  const Iterations iterations = iterationsOf(program.ranks, 1, bytes);
  result.extrapolated = iterations.extrapolated();
  const Time launch = Costs::us(machine.parameters.launch);
  const ir::ProgramIndex index(program);
  const std::optional<OtherEnds> otherEnds =
      detail == Detail::Folded && !rows ? foldRanks(index, machine) : std::nullopt;
  const auto run = [&](WalkOptions options) {
    options.folding.ranks = otherEnds.has_value();
    options.otherEnds = otherEnds ? &*otherEnds : nullptr;
    return walk(index, machine, runner, bytes, options);
  };
  result.latencyBound = run({.mostIterations = iterations.some, .free = true}).end;
  Time halfTotal = 0, halfLinks = 0, halfLatency = 0;
  if (result.extrapolated) {
    halfLatency = run({.mostIterations = iterations.fewer(), .free = true}).end;
    const Timeline half = run({.mostIterations = iterations.fewer()});
    halfTotal = half.end;
    halfLinks = busiest(half);
  }
  result.timeline = run({.mostIterations = iterations.some, .record = detail == Detail::Pictures});
  result.total = result.timeline.end;
  result.linkBound = launch + busiest(result.timeline);
  if (result.extrapolated) {
    const double further = iterations.further();
    result.total += (result.timeline.end - halfTotal) * further;
    result.linkBound += (result.linkBound - launch - halfLinks) * further;
    result.latencyBound += (result.latencyBound - halfLatency) * further;
  }
  if (otherEnds)
    spreadTraffic(result.timeline, program.ranks.size());
  result.complete = result.timeline.complete;
  if (!result.complete)
    return result;
  for (const PathStep &step : criticalPath(result.timeline))
    result.spent[static_cast<std::size_t>(step.cause)] += step.to - step.from;
  for (Time &spent : result.spent)
    spent *= result.total / result.timeline.end;
  result.bound = static_cast<Cause>(std::max_element(result.spent.begin(), result.spent.end()) - result.spent.begin());
  return result;
}

namespace {

/// A launch in which possibly only some ranks are planned.
struct PlannedLaunch {
  const ir::ProgramIndex &index;
  std::span<const ir::Rank> planned;  ///< ranks that have thread blocks; each represents `copies` ranks
  std::uint64_t copies;               ///< number of ranks that each planned rank represents, with itself
  std::optional<OtherEnds> otherEnds; ///< other ends of rank 0's channels, if rank 0 is walked for all ranks
};

LaunchFigures figuresOf(const PlannedLaunch &launch, const Machine &machine, Runner runner, std::uint64_t messageBytes,
                        std::uint32_t instances) {
  const ir::Program &program = launch.index.program;
  const MessageBytes bytes(program, messageBytes);
  const Iterations iterations = iterationsOf(launch.planned, launch.copies, bytes);
  // Instances take the same time only if their blocks begin together.
  const std::uint64_t held = residentBlocks(program, machine.gpu(), limitsOf(runner));
  const bool beginTogether =
      std::ranges::all_of(launch.planned, [&](const ir::Rank &rank) { return rank.blocks.size() <= held; });
  const Folding folding{beginTogether && areInstancesSymmetric(launch.planned, instances) ? instances : 1,
                        launch.otherEnds.has_value()};
  const auto walked = [&](std::uint64_t most) -> LaunchFigures {
    const Timeline timeline = walk(
        launch.index, machine, runner, bytes,
        {.mostIterations = most, .folding = folding, .otherEnds = launch.otherEnds ? &*launch.otherEnds : nullptr});
    if (!timeline.complete)
      return {std::numeric_limits<Time>::infinity(), 0};
    return {timeline.end, bytesOnBusiestLink(timeline)};
  };
  LaunchFigures figures = walked(iterations.some);
  if (!iterations.extrapolated() || std::isinf(figures.total))
    return figures;
  const LaunchFigures fewer = walked(iterations.fewer());
  figures.total += (figures.total - fewer.total) * iterations.further();
  figures.linkBytes += (figures.linkBytes - fewer.linkBytes) * iterations.further();
  return figures;
}

} // namespace

LaunchFigures launchFigures(const ir::Program &program, const Machine &machine, Runner runner,
                            std::uint64_t messageBytes, Folding most) {
  ir::requireBlocks(program);
  const ir::ProgramIndex index(program);
  return figuresOf({index, program.ranks, 1, most.ranks ? foldRanks(index, machine) : std::nullopt}, machine, runner,
                   messageBytes, most.instances);
}

LaunchFigures launchFigures(const RepresentativeRank &one, const Machine &machine, Runner runner,
                            std::uint64_t messageBytes, std::uint32_t instances) {
  const ir::ProgramIndex index(one.launch());
  return figuresOf({index, {&one.rank(), 1}, one.numRanks(), one.otherEnds()}, machine, runner, messageBytes,
                   instances);
}

Time launchTime(const ir::Program &program, const Machine &machine, Runner runner, std::uint64_t messageBytes) {
  return launchFigures(program, machine, runner, messageBytes).total;
}

} // namespace mscclc::passes::time
