#include "passes/time/estimate.h"

#include "ir/structure.h"
#include "passes/time/walk.h"

#include <algorithm>

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
  return total;
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

Timeline walk(const ir::ProgramIndex &index, const Machine &machine, Runner runner, const MessageBytes &bytes,
              WalkOptions options, Timeline memory) {
  FluidNetwork network;
  const Costs costs(index.program, machine, runner, network);
  return Walk(index, costs, network, bytes, options).run(std::move(memory));
}

/// What a resource needs at least for what passes through it.
Time busiest(const Timeline &timeline) {
  Time longest = 0;
  for (const Traffic &traffic : timeline.traffic)
    longest = std::max(longest, traffic.bytes / traffic.capacity);
  return longest;
}

} // namespace

Estimate estimate(const ir::Program &program, const Machine &machine, Runner runner, std::uint64_t messageBytes,
                  bool record) {
  ir::requireBlocks(program);
  const MessageBytes bytes(program, messageBytes);
  Estimate result;
  result.messageBytes = messageBytes;
  const std::uint64_t all = longestPipeline(program, bytes);
  std::uint64_t some = all;
  while (some > 16 && operations(program, bytes, some) > mostOperations)
    some /= 2;
  result.extrapolated = some < all;
  const Time launch = Costs::us(machine.parameters.launch);
  const ir::ProgramIndex index(program);
  Timeline last; // of several walks, one after the other
  const auto run = [&](WalkOptions options) -> const Timeline & {
    last = walk(index, machine, runner, bytes, options, std::move(last));
    return last;
  };
  result.latencyBound = run({.mostIterations = some, .free = true}).end;
  Time halfTotal = 0, halfLinks = 0, halfLatency = 0;
  const std::uint64_t fewer = some / 2;
  if (result.extrapolated) {
    halfLatency = run({.mostIterations = fewer, .free = true}).end;
    const Timeline &half = run({.mostIterations = fewer});
    halfTotal = half.end;
    halfLinks = busiest(half);
  }
  run({.mostIterations = some, .record = record});
  result.timeline = std::move(last);
  result.total = result.timeline.end;
  result.linkBound = launch + busiest(result.timeline);
  if (result.extrapolated) {
    // From half as many iterations on, each takes as long as the last.
    const auto further = static_cast<double>(all - some) / static_cast<double>(some - fewer);
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

} // namespace mscclc::passes::time
