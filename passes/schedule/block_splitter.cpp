#include "passes/schedule/block_splitter.h"

#include "ir/containers.h"
#include "ir/program_index.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace mscclc::passes::schedule {

BlockSplitter::BlockSplitter(ir::Movement &movement, std::size_t ranks, const StatementGraph &graph,
                             const StatementDistances &distances, const StatementSymmetry &symmetry,
                             const ExecutorLimits &limits)
    : movement_(movement), graph_(graph), distances_(distances), symmetry_(symmetry), limits_(limits),
      needs_(movement, ranks, graph, symmetry) {}

std::vector<BlockSplitter::Part> BlockSplitter::split(std::span<const std::uint32_t> statements,
                                                      const BlockNeeds &fixed,
                                                      std::span<const std::uint32_t> clusterOf) const {
  const std::vector<std::uint32_t> ordered =
      ir::sortedBy(std::vector(statements.begin(), statements.end()), [&](std::uint32_t s) {
        return std::tuple(graph_.phases()[s], distances_.ofReach(s), distances_.ofShare(s));
      });
  // Each cluster is a unit. Units are in the order of their first statements. For each position in `ordered`, `firsts`
  // has the position of the first statement in the same unit.
  std::vector<std::uint32_t> firsts(ordered.size());
  std::vector<std::uint32_t> byUnit =
      ir::sortedBy(ir::numbersBelow(ordered.size()), [&](std::uint32_t i) { return clusterOf[ordered[i]]; });
  for (std::size_t i = 0; i < byUnit.size(); ++i)
    firsts[byUnit[i]] = i != 0 && clusterOf[ordered[byUnit[i]]] == clusterOf[ordered[byUnit[i - 1]]]
                            ? firsts[byUnit[i - 1]]
                            : byUnit[i];
  byUnit = ir::sortedBy(ir::numbersBelow(ordered.size()), [&](std::uint32_t i) { return firsts[i]; });

  std::vector<Part> parts;
  if (!fixed.empty())
    parts.push_back({fixed, {}});
  const auto take = [&](std::span<const std::uint32_t> needs, std::span<const std::uint32_t> its) {
    auto part = std::ranges::find_if(parts, [&](const Part &one) { return one.reach.fits(needs, limits_); });
    if (part == parts.end())
      part = parts.insert(part, {needs_.none(), {}});
    part->reach.add(needs);
    part->statements.insert(part->statements.end(), its.begin(), its.end());
  };
  BlockNeeds reach = needs_.none();
  std::vector<std::uint32_t> unit;
  for (std::size_t i = 0; i < byUnit.size();) {
    reach.clear();
    unit.clear();
    for (const std::uint32_t first = firsts[byUnit[i]]; i < byUnit.size() && firsts[byUnit[i]] == first; ++i) {
      unit.push_back(ordered[byUnit[i]]);
      reach.add(needs_.of(unit.back()));
    }
    if (reach.fits(limits_)) {
      take(reach.needs(), unit);
      continue;
    }
    for (const std::uint32_t s : unit) {
      reach.clear();
      reach.add(needs_.of(s));
      take(reach.needs(), {&s, 1});
    }
  }
  return parts;
}

void BlockSplitter::run(std::span<const std::uint32_t> clusterOf) {
  const auto byOf = [&](std::uint32_t s) { return *movement_.statements[s].by; };
  const auto blockOf = [&](std::uint32_t s) { return *movement_.statements[s].block; };
  const std::span<const std::uint32_t> planned = symmetry_.representatives();
  const std::vector<std::uint32_t> entries = ir::sortedBy(
      std::vector(planned.begin(), planned.end()), [&](std::uint32_t s) { return std::pair(byOf(s), blockOf(s)); });
  std::vector<std::uint32_t> partOf(graph_.size(), 0), movable;
  std::uint32_t most = 1;
  BlockNeeds whole = needs_.none(),
             fixed = needs_.none(); // needs of all statements of the block, and of the statements that stay in it
  for (auto first = entries.begin(), last = first; first != entries.end(); first = last) {
    whole.clear();
    fixed.clear();
    movable.clear();
    for (; last != entries.end() && byOf(*last) == byOf(*first) && blockOf(*last) == blockOf(*first); ++last) {
      whole.add(needs_.of(*last));
      if (clusterOf[*last] == ir::none)
        fixed.add(needs_.of(*last));
      else
        movable.push_back(*last);
    }
    if (whole.fits(limits_))
      continue;
    const std::vector<Part> parts = split(movable, fixed, clusterOf);
    most = std::max(most, static_cast<std::uint32_t>(parts.size()));
    for (std::uint32_t p = 0; p < parts.size(); ++p)
      for (const std::uint32_t s : parts[p].statements)
        partOf[s] = p;
  }
  for (const std::uint32_t s : planned)
    movement_.statements[s].block = *movement_.statements[s].block * most + partOf[s];
}

} // namespace mscclc::passes::schedule
