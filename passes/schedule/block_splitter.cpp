#include "passes/schedule/block_splitter.h"

#include "ir/program_index.h"
#include "passes/schedule/stable_order.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace mscclc::passes::schedule {

void BlockSplitter::Reach::add(std::span<const std::uint32_t> needs) {
  for (const std::uint32_t need : needs) {
    if (has_[need])
      continue;
    has_[need] = true;
    added_.push_back(need);
    ++sizes_[tableOf(need)];
  }
}

bool BlockSplitter::Reach::fits(std::span<const std::uint32_t> needs, const ExecutorLimits &limits) const {
  std::array<std::uint32_t, 4> sizes = sizes_;
  for (std::size_t i = 0; i < needs.size(); ++i)
    if (!has_[needs[i]] &&
        std::ranges::find(needs.first(i), needs[i]) == needs.begin() + static_cast<std::ptrdiff_t>(i))
      ++sizes[tableOf(needs[i])];
  return std::max(sizes[0], sizes[1]) <= limits.channelsPerBlock &&
         std::max(sizes[2], sizes[3]) <= limits.remotesPerBlock;
}

void BlockSplitter::Reach::clear() {
  for (const std::uint32_t need : added_)
    has_[need] = false;
  added_.clear();
  sizes_ = {};
}

BlockSplitter::BlockSplitter(ir::Movement &movement, std::size_t ranks, const StatementGraph &graph,
                             const StatementDistances &distances, const StatementOrbits &orbits,
                             const ExecutorLimits &limits)
    : movement_(movement), graph_(graph), distances_(distances), orbits_(orbits), limits_(limits),
      ranks_(static_cast<std::uint32_t>(ranks)) {}

/// Calls `visit(statement, need)` for all that statements need, some of it more than once.
void BlockSplitter::eachNeed(auto &&visit) const {
  const auto signals = [&](std::uint32_t s, bool port, std::uint32_t rank) {
    visit(s, (port ? PortChannel : MemoryChannel) * ranks_ + rank);
  };
  const auto puts = [&](std::uint32_t s, std::uint32_t rank) { visit(s, PortPuts * ranks_ + rank); };
  std::vector<bool> isPut; // [from][to planned]: through a port
  for (const std::uint32_t s : orbits_.planned())
    if (const ir::Move &statement = movement_.statements[s]; isPortPut(statement)) {
      isPut.resize(std::size_t{ranks_} * ranks_, false);
      const std::uint32_t to = movement_.dsts(statement)[0].rank;
      isPut[std::size_t{orbits_.seenRank(to, *statement.by)} * ranks_ + orbits_.seenRank(to, to)] = true;
    }
  for (const std::uint32_t s : orbits_.planned()) {
    const ir::Move &statement = movement_.statements[s];
    const std::uint32_t by = *statement.by;
    if (statement.via && *statement.via != ir::Via::Switch)
      for (std::uint32_t i = 0; i < statement.numSrcs + statement.numDsts; ++i)
        if (const ir::RankChunk &place = movement_.places[statement.firstPlace + i]; place.rank != by) {
          const bool port = statement.via == ir::Via::Port;
          // The launch there has to have begun, which packets need not wait for; and it hears of what comes from there.
          if (!port || isPortPut(statement))
            signals(s, !movement_.sameNode(by, place.rank), place.rank);
          if (port || (!isPut.empty() && isPut[std::size_t{place.rank} * ranks_ + by]))
            puts(s, place.rank);
          const std::uint32_t buffers = port ? PortBuffer : MemoryBuffer;
          visit(s, (buffers + static_cast<std::uint32_t>(place.buffer)) * ranks_ + place.rank);
        }
    for (const Dependence &d : graph_.dependences(s)) {
      const std::uint32_t earlier = *movement_.statements[d.on].by;
      if (earlier == by || d.hazard == Hazard::Packets)
        continue;
      const bool port = !movement_.sameNode(earlier, by);
      signals(s, port, earlier);
      signals(orbits_.standsFor(d.on), port, orbits_.seenRank(earlier, by));
      if (isPortPut(movement_.statements[d.on]))
        puts(s, earlier);
    }
  }
}

void BlockSplitter::findNeeds() {
  firstNeed_.assign(graph_.size() + 2, 0);
  eachNeed([&](std::uint32_t s, std::uint32_t) { ++firstNeed_[s + 2]; });
  std::partial_sum(firstNeed_.begin(), firstNeed_.end(), firstNeed_.begin());
  needs_.resize(firstNeed_.back());
  eachNeed([&](std::uint32_t s, std::uint32_t need) { needs_[firstNeed_[s + 1]++] = need; });
  firstNeed_.pop_back();
}

std::vector<BlockSplitter::Part> BlockSplitter::split(std::span<const std::uint32_t> statements, const Reach &fixed,
                                                      std::span<const std::uint32_t> clusterOf) const {
  StableOrder sorting(std::vector(statements.begin(), statements.end()));
  sorting.by([&](std::uint32_t s) { return distances_.ofShare(s); });
  sorting.by([&](std::uint32_t s) { return distances_.ofReach(s); });
  sorting.by([&](std::uint32_t s) { return graph_.levels()[s]; });
  const std::vector<std::uint32_t> ordered = sorting.take();
  // Units are clusters, in the order of their first statements. [position in `ordered`]: the one where its unit begins.
  std::vector<std::uint32_t> firsts(ordered.size());
  StableOrder units(ordered.size());
  units.by([&](std::uint32_t i) { return clusterOf[ordered[i]]; });
  std::vector<std::uint32_t> byUnit = units.take();
  for (std::size_t i = 0; i < byUnit.size(); ++i)
    firsts[byUnit[i]] = i != 0 && clusterOf[ordered[byUnit[i]]] == clusterOf[ordered[byUnit[i - 1]]]
                            ? firsts[byUnit[i - 1]]
                            : byUnit[i];
  StableOrder again(ordered.size());
  again.by([&](std::uint32_t i) { return firsts[i]; });
  byUnit = again.take();

  std::vector<Part> parts;
  if (!fixed.empty())
    parts.push_back({fixed, {}});
  const auto take = [&](std::span<const std::uint32_t> needs, std::span<const std::uint32_t> its) {
    auto part = std::ranges::find_if(parts, [&](const Part &one) { return one.reach.fits(needs, limits_); });
    if (part == parts.end())
      part = parts.insert(part, {Reach(ranks_), {}});
    part->reach.add(needs);
    part->statements.insert(part->statements.end(), its.begin(), its.end());
  };
  Reach reach(ranks_);
  std::vector<std::uint32_t> unit;
  for (std::size_t i = 0; i < byUnit.size();) {
    reach.clear();
    unit.clear();
    for (const std::uint32_t first = firsts[byUnit[i]]; i < byUnit.size() && firsts[byUnit[i]] == first; ++i) {
      unit.push_back(ordered[byUnit[i]]);
      reach.add(needsOf(unit.back()));
    }
    if (reach.fits(limits_)) {
      take(reach.needs(), unit);
      continue;
    }
    for (const std::uint32_t s : unit) {
      reach.clear();
      reach.add(needsOf(s));
      take(reach.needs(), {&s, 1});
    }
  }
  return parts;
}

void BlockSplitter::run(std::span<const std::uint32_t> clusterOf) {
  findNeeds();
  const auto byOf = [&](std::uint32_t s) { return *movement_.statements[s].by; };
  const auto blockOf = [&](std::uint32_t s) { return *movement_.statements[s].block; };
  const std::span<const std::uint32_t> planned = orbits_.planned();
  StableOrder sorting(std::vector(planned.begin(), planned.end()));
  sorting.by(blockOf);
  sorting.by(byOf);
  const std::vector<std::uint32_t> entries = sorting.take();
  std::vector<std::uint32_t> partOf(graph_.size(), 0), movable;
  std::uint32_t most = 1;
  Reach whole(ranks_), fixed(ranks_); // of all statements of the block, and of those that stay in it
  for (auto first = entries.begin(), last = first; first != entries.end(); first = last) {
    whole.clear();
    fixed.clear();
    movable.clear();
    for (; last != entries.end() && byOf(*last) == byOf(*first) && blockOf(*last) == blockOf(*first); ++last) {
      whole.add(needsOf(*last));
      if (clusterOf[*last] == ir::none)
        fixed.add(needsOf(*last));
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
