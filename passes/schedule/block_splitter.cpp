#include "passes/schedule/block_splitter.h"

#include "ir/program_index.h"

#include <algorithm>

namespace mscclc::passes::schedule {

void BlockSplitter::Reach::add(const Reach &other) {
  ranks.insert(other.ranks.begin(), other.ranks.end());
  buffers.insert(other.buffers.begin(), other.buffers.end());
}

BlockSplitter::BlockSplitter(ir::Movement &movement, const StatementGraph &graph, const StatementDistances &distances,
                             const ExecutorLimits &limits)
    : movement_(movement), graph_(graph), distances_(distances), limits_(limits) {}

void BlockSplitter::findReaches() {
  levels_ = levelsOf(graph_);
  reaches_.resize(graph_.size());
  for (std::uint32_t s = 0; s < graph_.size(); ++s) {
    const ir::Move &statement = movement_.statements[s];
    const std::uint32_t by = *statement.by;
    if (statement.via && *statement.via != ir::Via::Switch)
      for (std::uint32_t i = 0; i < statement.numSrcs + statement.numDsts; ++i)
        if (const ir::RankChunk &place = movement_.places[statement.firstPlace + i]; place.rank != by) {
          reaches_[s].ranks.insert({statement.via == ir::Via::Port, place.rank});
          reaches_[s].buffers.insert({statement.via == ir::Via::Port, place.rank, place.buffer});
        }
    for (const Dependence &d : graph_.dependences(s)) {
      const std::uint32_t earlier = *movement_.statements[d.on].by;
      if (earlier == by || d.hazard == Hazard::Packets)
        continue;
      const bool port = !movement_.sameNode(earlier, by) || isPortPut(movement_.statements[d.on]);
      reaches_[s].ranks.insert({port, earlier});
      reaches_[d.on].ranks.insert({port, by});
    }
  }
}

bool BlockSplitter::fits(const Reach &reach) const {
  const auto most = [](const auto &all, auto isPort) {
    const auto ports = static_cast<std::size_t>(std::ranges::count_if(all, isPort));
    return std::max(ports, all.size() - ports);
  };
  return most(reach.ranks, [](const auto &r) { return r.first; }) <= limits_.channelsPerBlock &&
         most(reach.buffers, [](const auto &b) { return std::get<0>(b); }) <= limits_.remotesPerBlock;
}

std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>
BlockSplitter::keyOf(std::uint32_t statement) const {
  const ir::Move &move = movement_.statements[statement];
  return {levels_[statement], distances_.ofReach(move), distances_.ofShare(move), statement};
}

std::vector<BlockSplitter::Part> BlockSplitter::split(std::vector<std::uint32_t> statements,
                                                      std::span<const std::uint32_t> clusterOf) const {
  std::ranges::sort(statements, {}, [&](std::uint32_t s) { return keyOf(s); });
  std::vector<Part> units;
  std::map<std::uint32_t, std::size_t> unitOf; // cluster → of units
  for (const std::uint32_t s : statements) {
    const auto [at, isNew] = unitOf.try_emplace(clusterOf[s], units.size());
    if (isNew)
      units.emplace_back();
    units[at->second].reach.add(reaches_[s]);
    units[at->second].statements.push_back(s);
  }
  std::vector<Part> parts;
  const auto take = [&](const Part &unit) {
    for (Part &part : parts) {
      Reach both = part.reach;
      both.add(unit.reach);
      if (!fits(both))
        continue;
      part.reach = std::move(both);
      part.statements.insert(part.statements.end(), unit.statements.begin(), unit.statements.end());
      return;
    }
    parts.push_back(unit);
  };
  for (const Part &unit : units) {
    if (fits(unit.reach)) {
      take(unit);
      continue;
    }
    for (const std::uint32_t s : unit.statements)
      take({reaches_[s], {s}});
  }
  return parts;
}

void BlockSplitter::run(std::span<const std::uint32_t> clusterOf) {
  findReaches();
  std::map<std::pair<std::uint32_t, std::uint32_t>, Part> blocks; // (rank, block)
  for (std::uint32_t s = 0; s < graph_.size(); ++s) {
    if (clusterOf[s] == ir::none)
      continue;
    Part &block = blocks[{*movement_.statements[s].by, *movement_.statements[s].block}];
    block.reach.add(reaches_[s]);
    block.statements.push_back(s);
  }
  std::vector<std::uint32_t> partOf(graph_.size(), 0);
  std::uint32_t most = 1;
  for (auto &[place, block] : blocks) {
    if (fits(block.reach))
      continue;
    const std::vector<Part> parts = split(std::move(block.statements), clusterOf);
    most = std::max(most, static_cast<std::uint32_t>(parts.size()));
    for (std::uint32_t p = 0; p < parts.size(); ++p)
      for (const std::uint32_t s : parts[p].statements)
        partOf[s] = p;
  }
  for (std::uint32_t s = 0; s < graph_.size(); ++s)
    movement_.statements[s].block = *movement_.statements[s].block * most + partOf[s];
}

} // namespace mscclc::passes::schedule
