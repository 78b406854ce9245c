#include "passes/time/estimate.h"

#include "ir/internal_error.h"
#include "ir/structure.h"
#include "passes/time/walk.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace mscclc::passes::time {

namespace {

/// Operations of a walk, iterations counted; more are extrapolated.
constexpr std::uint64_t mostOperations = 200'000;

std::uint64_t operations(const ir::Program &program, const MessageBytes &bytes, std::uint64_t mostIterations) {
  std::uint64_t total = 0;
  for (const ir::Rank &rank : program.ranks)
    for (const ir::ThreadBlock &block : rank.blocks) {
      total += block.ops.size();
      for (const ir::Op &op : block.ops)
        if (op.kind == ir::OpKind::Pipeline)
          total += std::min(bytes.iterations(op), mostIterations) * op.bodySize;
    }
  return program.folded ? total * program.ranks.size() : total;
}

std::uint64_t longestPipeline(const ir::Program &program, const MessageBytes &bytes) {
  std::uint64_t longest = 0;
  for (const ir::Rank &rank : program.ranks)
    for (const ir::ThreadBlock &block : rank.blocks)
      for (const ir::Op &op : block.ops)
        if (op.kind == ir::OpKind::Pipeline)
          longest = std::max(longest, bytes.iterations(op));
  return longest;
}

/// Iterations of the longest pipeline, and of those that are walked.
struct Iterations {
  std::uint64_t all = 0, some = 0;
  bool extrapolated() const { return some < all; }
  std::uint64_t fewer() const { return some / 2; }
  /// From `fewer` iterations on, each takes as long as the last: those that are left out, over those in between.
  double further() const { return static_cast<double>(all - some) / static_cast<double>(some - fewer()); }
};

Iterations iterationsOf(const ir::Program &program, const MessageBytes &bytes) {
  Iterations result;
  result.all = result.some = longestPipeline(program, bytes);
  while (result.some > 16 && operations(program, bytes, result.some) > mostOperations)
    result.some /= 2;
  return result;
}

Timeline walk(const ir::ProgramIndex &index, const Machine &machine, Runner runner, const MessageBytes &bytes,
              WalkOptions options, Timeline memory) {
  FluidNetwork network;
  options.heldAtOnce = residentBlocks(index.program, machine.gpu(), limitsOf(runner));
  const Costs costs(index.program, machine, runner, network, options.folding);
  return Walk(index, costs, network, bytes, options).run(std::move(memory));
}

/// What a resource needs at least for what passes through it.
Time busiest(const Timeline &timeline) {
  Time longest = 0;
  for (const Traffic &traffic : timeline.traffic)
    longest = std::max(longest, traffic.bytes / traffic.capacity);
  return longest;
}

bool isLink(Cause kind) {
  switch (kind) {
  case Cause::LinkOut:
  case Cause::LinkIn:
  case Cause::NicOut:
  case Cause::NicIn:
    return true;
  case Cause::Launch:
  case Cause::Decode:
  case Cause::Latency:
  case Cause::Sync:
  case Cause::Issue:
  case Cause::Memory:
  case Cause::CopyEngine:
  case Cause::Proxy:
    return false;
  }
  throw ir::InternalError("a cause that is none");
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
                  bool record) {
  ir::requireBlocks(program);
  const MessageBytes bytes(program, messageBytes);
  Estimate result;
  result.messageBytes = messageBytes;
  const Iterations iterations = iterationsOf(program, bytes);
  result.extrapolated = iterations.extrapolated();
  const Time launch = Costs::us(machine.parameters.launch);
  const ir::ProgramIndex index(program);
  Timeline last; // of several walks, one after the other
  const auto run = [&](WalkOptions options) -> const Timeline & {
    last = walk(index, machine, runner, bytes, options, std::move(last));
    return last;
  };
  result.latencyBound = run({.mostIterations = iterations.some, .free = true}).end;
  Time halfTotal = 0, halfLinks = 0, halfLatency = 0;
  if (result.extrapolated) {
    halfLatency = run({.mostIterations = iterations.fewer(), .free = true}).end;
    const Timeline &half = run({.mostIterations = iterations.fewer()});
    halfTotal = half.end;
    halfLinks = busiest(half);
  }
  run({.mostIterations = iterations.some, .record = record});
  result.timeline = std::move(last);
  result.total = result.timeline.end;
  result.linkBound = launch + busiest(result.timeline);
  if (result.extrapolated) {
    const double further = iterations.further();
    result.total += (result.timeline.end - halfTotal) * further;
    result.linkBound += (result.linkBound - launch - halfLinks) * further;
    result.latencyBound += (result.latencyBound - halfLatency) * further;
  }
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

LaunchFigures launchFigures(const ir::Program &program, const Machine &machine, Runner runner,
                            std::uint64_t messageBytes, Folding most) {
  if (!program.folded)
    ir::requireBlocks(program);
  const MessageBytes bytes(program, messageBytes);
  const Iterations iterations = iterationsOf(program, bytes);
  const ir::ProgramIndex index(program);
  std::optional<ir::FoldedRanks> channels = program.folded;
  if (!channels && most.ranks)
    channels = foldRanks(index, machine);
  // A block that begins later than its instances takes another time.
  const std::uint64_t held = residentBlocks(program, machine.gpu(), limitsOf(runner));
  const bool beginTogether =
      std::ranges::all_of(program.ranks, [&](const ir::Rank &rank) { return rank.blocks.size() <= held; });
  const Folding folding{beginTogether && areInstancesAlike(program, most.instances) ? most.instances : 1,
                        channels.has_value()};
  const auto walked = [&](std::uint64_t most) -> LaunchFigures {
    const Timeline timeline =
        walk(index, machine, runner, bytes,
             {.mostIterations = most, .folding = folding, .channels = channels ? &*channels : nullptr}, {});
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

Time launchTime(const ir::Program &program, const Machine &machine, Runner runner, std::uint64_t messageBytes) {
  return launchFigures(program, machine, runner, messageBytes).total;
}

} // namespace mscclc::passes::time
