#include "passes/schedule/block_needs.h"

#include "ir/program_index.h"

namespace mscclc::passes::schedule {
namespace {

/// Calls `visit(statement, need)` for each need of each representative statement. Some needs are visited more than
/// once.
void eachNeed(const ir::Movement &movement, std::uint32_t ranks, const StatementGraph &graph,
              const StatementSymmetry &symmetry, auto &&visit) {
  const auto signals = [&](std::uint32_t s, bool port, std::uint32_t rank) {
    visit(s, (port ? BlockNeeds::PortChannel : BlockNeeds::MemoryChannel) * ranks + rank);
  };
  const auto puts = [&](std::uint32_t s, std::uint32_t rank) { visit(s, BlockNeeds::PortPuts * ranks + rank); };
  std::vector<bool> isPut; // [sender][receiver, a representative]: true if a port puts
  for (const std::uint32_t s : symmetry.representatives())
    if (const ir::Move &statement = movement.statements[s]; isPortPut(statement)) {
      isPut.resize(std::size_t{ranks} * ranks, false);
      const std::uint32_t to = movement.dsts(statement)[0].rank;
      isPut[std::size_t{symmetry.seenFrom(to, *statement.by)} * ranks + symmetry.seenFrom(to, to)] = true;
    }
  for (const std::uint32_t s : symmetry.representatives()) {
    const ir::Move &statement = movement.statements[s];
    const std::uint32_t by = *statement.by;
    if (statement.via && *statement.via != ir::Via::Switch)
      for (const ir::RankChunk &place : movement.placesOf(statement))
        if (place.rank != by) {
          const bool port = statement.via == ir::Via::Port;
          // The statement waits until the launch on the other rank has begun, and for data from that rank. A port's put
          // of packets does not wait.
          if (!port || isPortPut(statement))
            signals(s, !movement.sameNode(by, place.rank), place.rank);
          if (port || (!isPut.empty() && isPut[std::size_t{place.rank} * ranks + by]))
            puts(s, place.rank);
          const std::uint32_t buffers = port ? BlockNeeds::PortBuffer : BlockNeeds::MemoryBuffer;
          visit(s, (buffers + static_cast<std::uint32_t>(place.buffer)) * ranks + place.rank);
        }
    for (const Dependence &d : graph.dependences(s)) {
      const std::uint32_t earlier = *movement.statements[d.on].by;
      if (earlier == by || d.hazard == Hazard::Packets)
        continue;
      const bool port = !movement.sameNode(earlier, by);
      signals(s, port, earlier);
      signals(symmetry.representativeItem(d.on), port, symmetry.seenFrom(earlier, by));
      if (isPortPut(movement.statements[d.on]))
        puts(s, earlier);
    }
  }
}

} // namespace

void BlockNeeds::add(std::span<const std::uint32_t> needs) {
  for (const std::uint32_t need : needs) {
    if (has_[need])
      continue;
    has_[need] = true;
    added_.push_back(need);
    ++sizes_[tableOf(need)];
  }
}

bool BlockNeeds::fits(std::span<const std::uint32_t> needs, const ExecutorLimits &limits) const {
  std::array<std::uint32_t, 4> sizes = sizes_;
  for (std::size_t i = 0; i < needs.size(); ++i)
    if (!has_[needs[i]] &&
        std::ranges::find(needs.first(i), needs[i]) == needs.begin() + static_cast<std::ptrdiff_t>(i))
      ++sizes[tableOf(needs[i])];
  return std::max(sizes[0], sizes[1]) <= limits.channelsPerBlock &&
         std::max(sizes[2], sizes[3]) <= limits.remotesPerBlock;
}

void BlockNeeds::clear() {
  for (const std::uint32_t need : added_)
    has_[need] = false;
  added_.clear();
  sizes_ = {};
}

StatementNeeds::StatementNeeds(const ir::Movement &movement, std::size_t ranks, const StatementGraph &graph,
                               const StatementSymmetry &symmetry)
    : ranks_(static_cast<std::uint32_t>(ranks)), needs_(graph.size()) {
  eachNeed(movement, ranks_, graph, symmetry, [&](std::uint32_t s, std::uint32_t need) { needs_[s].push_back(need); });
}

BlockNeeds StatementNeeds::ofRank(const ir::Movement &movement, std::uint32_t rank) const {
  BlockNeeds all = none();
  for (std::uint32_t s = 0; s < movement.statements.size(); ++s)
    if (*movement.statements[s].by == rank)
      all.add(of(s));
  return all;
}

} // namespace mscclc::passes::schedule
