#include "passes/schedule/block_splitter.h"

#include "ir/program_index.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace mscclc::passes::schedule {

namespace {

constexpr std::uint64_t ofPort = std::uint64_t{1} << 63, ofPut = std::uint64_t{1} << 62;

void insert(std::vector<std::uint64_t> &entries, std::uint64_t entry) {
  const auto at = std::ranges::lower_bound(entries, entry);
  if (at == entries.end() || *at != entry)
    entries.insert(at, entry);
}

/// True if `a` and `b` together are at most `most` through memory, and as many through ports.
bool together(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b, std::size_t most) {
  std::size_t counts[2] = {};
  for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    const std::uint64_t next = j == b.size() || (i < a.size() && a[i] < b[j]) ? a[i] : b[j];
    if (++counts[next >= ofPort] > most)
      return false;
    i += i < a.size() && a[i] == next;
    j += j < b.size() && b[j] == next;
  }
  return true;
}

} // namespace

/// A channel to `rank` for signals; in memory, data goes the same way.
void BlockSplitter::Reach::addSignals(bool port, std::uint32_t rank) {
  insert(channels, (port ? ofPort : 0) | rank);
}

/// One for what ports put to `rank` or get from there.
void BlockSplitter::Reach::addPuts(std::uint32_t rank) {
  insert(channels, ofPort | ofPut | rank);
}

void BlockSplitter::Reach::addBuffer(bool port, const ir::RankChunk &place) {
  insert(buffers, (port ? ofPort : 0) | std::uint64_t{place.rank} << 8 | static_cast<std::uint64_t>(place.buffer));
}

void BlockSplitter::Reach::add(const Reach &other) {
  for (const std::uint64_t entry : other.channels)
    insert(channels, entry);
  for (const std::uint64_t entry : other.buffers)
    insert(buffers, entry);
}

BlockSplitter::BlockSplitter(ir::Movement &movement, const StatementGraph &graph, const StatementDistances &distances,
                             const ExecutorLimits &limits)
    : movement_(movement), graph_(graph), distances_(distances), limits_(limits) {}

void BlockSplitter::findReaches() {
  levels_ = levelsOf(graph_);
  reaches_.resize(graph_.size());
  std::set<std::pair<std::uint32_t, std::uint32_t>> puts; // (from, to)
  for (const ir::Move &statement : movement_.statements)
    if (isPortPut(statement))
      puts.emplace(*statement.by, movement_.dsts(statement)[0].rank);
  for (std::uint32_t s = 0; s < graph_.size(); ++s) {
    const ir::Move &statement = movement_.statements[s];
    const std::uint32_t by = *statement.by;
    if (statement.via && *statement.via != ir::Via::Switch)
      for (std::uint32_t i = 0; i < statement.numSrcs + statement.numDsts; ++i)
        if (const ir::RankChunk &place = movement_.places[statement.firstPlace + i]; place.rank != by) {
          const bool port = statement.via == ir::Via::Port;
          // The launch there has to have begun, which packets need not wait for; and it hears of what comes from there.
          if (!port || isPortPut(statement))
            reaches_[s].addSignals(!movement_.sameNode(by, place.rank), place.rank);
          if (port || puts.contains({place.rank, by}))
            reaches_[s].addPuts(place.rank);
          reaches_[s].addBuffer(port, place);
        }
    for (const Dependence &d : graph_.dependences(s)) {
      const std::uint32_t earlier = *movement_.statements[d.on].by;
      if (earlier == by || d.hazard == Hazard::Packets)
        continue;
      const bool port = !movement_.sameNode(earlier, by);
      reaches_[s].addSignals(port, earlier);
      reaches_[d.on].addSignals(port, by);
      if (isPortPut(movement_.statements[d.on]))
        reaches_[s].addPuts(earlier);
    }
  }
}

/// True if one block can have `reach` and `other`.
bool BlockSplitter::fits(const Reach &reach, const Reach &other) const {
  return together(reach.channels, other.channels, limits_.channelsPerBlock) &&
         together(reach.buffers, other.buffers, limits_.remotesPerBlock);
}

BlockSplitter::Key BlockSplitter::keyOf(std::uint32_t statement) const {
  return {levels_[statement], distances_.ofReach(statement), distances_.ofShare(statement), statement};
}

std::vector<BlockSplitter::Part> BlockSplitter::split(std::span<const std::uint32_t> statements, const Reach &fixed,
                                                      std::span<const std::uint32_t> clusterOf) const {
  std::vector<Key> keys;
  keys.reserve(statements.size());
  for (const std::uint32_t s : statements)
    keys.push_back(keyOf(s));
  std::ranges::sort(keys);
  std::vector<Part> units;
  std::map<std::uint32_t, std::size_t> unitOf; // cluster → of units
  for (const Key &key : keys) {
    const std::uint32_t s = key.back();
    const auto [at, isNew] = unitOf.try_emplace(clusterOf[s], units.size());
    if (isNew)
      units.emplace_back();
    units[at->second].reach.add(reaches_[s]);
    units[at->second].statements.push_back(s);
  }
  std::vector<Part> parts;
  if (!fixed.channels.empty() || !fixed.buffers.empty())
    parts.push_back({fixed, {}});
  const auto take = [&](const Part &unit) {
    for (Part &part : parts) {
      if (!fits(part.reach, unit.reach))
        continue;
      part.reach.add(unit.reach);
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
  using Entry = std::array<std::uint32_t, 3>; // rank, block and statement
  std::vector<Entry> entries;
  entries.reserve(graph_.size());
  for (std::uint32_t s = 0; s < graph_.size(); ++s)
    entries.push_back({*movement_.statements[s].by, *movement_.statements[s].block, s});
  std::ranges::sort(entries);
  std::vector<std::uint32_t> partOf(graph_.size(), 0), movable;
  std::uint32_t most = 1;
  const auto isOtherBlock = [](const Entry &a, const Entry &b) { return a[0] != b[0] || a[1] != b[1]; };
  for (auto first = entries.begin(), last = first; first != entries.end(); first = last) {
    Reach whole, fixed; // of all statements of the block, and of those that stay in it
    movable.clear();
    for (; last != entries.end() && !isOtherBlock(*first, *last); ++last) {
      const std::uint32_t s = last->back();
      whole.add(reaches_[s]);
      if (clusterOf[s] == ir::none)
        fixed.add(reaches_[s]);
      else
        movable.push_back(s);
    }
    if (fits(whole))
      continue;
    const std::vector<Part> parts = split(movable, fixed, clusterOf);
    most = std::max(most, static_cast<std::uint32_t>(parts.size()));
    for (std::uint32_t p = 0; p < parts.size(); ++p)
      for (const std::uint32_t s : parts[p].statements)
        partOf[s] = p;
  }
  for (std::uint32_t s = 0; s < graph_.size(); ++s)
    movement_.statements[s].block = *movement_.statements[s].block * most + partOf[s];
}

} // namespace mscclc::passes::schedule
