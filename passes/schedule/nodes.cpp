#include "passes/schedule/nodes.h"

#include "ir/containers.h"
#include "ir/program_index.h"
#include "passes/schedule/statement_distances.h"

#include <algorithm>
#include <map>
#include <set>

namespace mscclc::passes::schedule {
namespace {

/// Returns the receiving block of each port put: the block of the first statement on the receiving rank that depends on
/// the put's arrival. A later write to the same scratch does not count: it may belong to another slot at the same
/// place, and sharing of places must not change sync.
std::vector<std::uint32_t> receiversOf(const ir::Movement &movement, const StatementGraph &graph) {
  std::vector<std::uint32_t> receivers(movement.statements.size(), ir::none);
  for (std::uint32_t s = 0; s < graph.size(); ++s)
    for (const Dependence &d : graph.dependences(s)) {
      const ir::Move &earlier = movement.statements[d.on];
      if (!isPortPut(earlier) || !d.ofWrite || receivers[d.on] != ir::none)
        continue;
      const ir::RankChunk &brought = movement.dsts(earlier)[0];
      const bool counts = d.hazard == Hazard::Value || brought.buffer != ir::BufferKind::Scratch;
      if (counts && brought.rank == *movement.statements[s].by)
        receivers[d.on] = *movement.statements[s].block;
    }
  return receivers;
}

/// Returns the number of blocks whose signals and port puts one block can receive. Puts of plain data need separate
/// channels.
std::uint32_t mostPortPeers(const ir::Movement &movement, std::uint32_t mostPeers) {
  return std::ranges::any_of(movement.statements, isPortPut) ? std::max(mostPeers / 2, 1u) : mostPeers;
}

} // namespace

void Nodes::shareOutReceivers(const ir::Movement &movement, std::vector<std::uint32_t> &receivers) const {
  const std::uint32_t most = mostPortPeers(movement, mostPeers_);
  const auto rankOf = [&](std::uint32_t s) { return movement.dsts(movement.statements[s])[0].rank; };
  std::map<std::uint32_t, std::set<std::uint32_t>> putting; // [receiving agent]: the agents that put to it
  std::set<std::uint32_t> sharing;                          // ranks
  for (std::uint32_t s = 0; s < receivers.size(); ++s)
    if (const ir::Move &put = movement.statements[s]; receivers[s] != ir::none) {
      std::set<std::uint32_t> &agents = putting[firstAgent_[rankOf(s)] + receivers[s]];
      agents.insert(firstAgent_[*put.by] + *put.block);
      if (agents.size() > most)
        sharing.insert(rankOf(s));
    }
  for (std::uint32_t s = 0; s < receivers.size(); ++s)
    if (receivers[s] != ir::none && sharing.contains(rankOf(s)))
      receivers[s] = ir::none;
}

void Nodes::findReaching(const ir::Movement &movement, const StatementGraph &graph) {
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    const ir::Move &move = movement.statements[s];
    std::vector<Reach> &reached = reaching_[*move.by];
    for (const Touch &touch : graph.touches(s))
      if (const Reach reach{touch.rank, *move.block};
          touch.rank != *move.by && (reached.empty() || reached.back() != reach))
        reached.push_back(reach);
  }
  for (auto &reached : reaching_)
    ir::sortUnique(reached);
}

void Nodes::find(OneWay &oneWay, const ir::Movement &movement) const {
  const std::size_t ranks = oneWay.blocks.size();
  std::vector<char> reached(ranks * ranks, 0); // [by][rank]
  const auto each = [&](auto &&visit) {
    for (const ir::Move &statement : movement.statements) {
      if (statement.via != oneWay.via)
        continue;
      for (const ir::RankChunk &place : movement.placesOf(statement))
        if (place.rank != *statement.by)
          visit(statement, place.rank);
    }
  };
  each([&](const ir::Move &statement, std::uint32_t rank) { reached[*statement.by * ranks + rank] = 1; });
  bool isMutual = true;
  for (std::size_t by = 0; isMutual && by < ranks; ++by)
    for (std::size_t rank = 0; rank < by; ++rank)
      isMutual &= reached[by * ranks + rank] == reached[rank * ranks + by];
  if (isMutual)
    return;
  each([&](const ir::Move &statement, std::uint32_t rank) {
    if (!reached[rank * ranks + *statement.by])
      oneWay.blocks[rank].push_back(seenFrom(rank, *statement.by, *statement.block));
  });
  for (auto &blocks : oneWay.blocks)
    ir::sortUnique(blocks);
}

Nodes::Nodes(const ir::Program &program, const StatementGraph &graph, const StatementDistances &distances,
             std::uint32_t mostPeers, std::uint32_t relays)
    : distances_(distances.ranks()), mostPeers_(mostPeers), relays_(relays),
      oneWay_{{{ir::Via::Memory, mostPeers, std::vector<std::vector<BlockOfRank>>(program.ranks.size())},
               {ir::Via::Port, mostPortPeers(program.movement, mostPeers),
                std::vector<std::vector<BlockOfRank>>(program.ranks.size())}}},
      touching_(program.ranks.size()), reaching_(program.ranks.size()) {
  const ir::Movement &movement = program.movement;
  findReaching(movement, graph);
  std::vector<std::uint32_t> blocks(program.ranks.size(), 1);
  for (OneWay &oneWay : oneWay_) {
    find(oneWay, movement);
    for (std::uint32_t r = 0; r < blocks.size(); ++r)
      if (const auto reaching = static_cast<std::uint32_t>(oneWay.blocks[r].size()); reaching != 0)
        blocks[r] = std::max(blocks[r], (reaching - 1) / oneWay.most + 1);
  }
  for (const ir::Move &statement : movement.statements)
    blocks[*statement.by] = std::max(blocks[*statement.by], *statement.block + 1);
  firstAgent_.push_back(0);
  for (std::uint32_t r = 0; r < blocks.size(); ++r) {
    rankOf_.insert(rankOf_.end(), blocks[r] + relays, r);
    firstAgent_.push_back(static_cast<std::uint32_t>(rankOf_.size()));
  }
  numberInClocks();
  lengths_.resize(rankOf_.size(), 0);
  runs_.resize(rankOf_.size(), 0);
  places_.reserve(movement.statements.size());
  settled_.reserve(movement.statements.size());
  issued_.reserve(movement.statements.size());
  if (std::ranges::none_of(movement.statements, isPortPut)) {
    for (std::uint32_t s = 0; s < movement.statements.size(); ++s)
      issue(program, graph, s);
    arrived_ = issued_;
    return;
  }
  std::vector<std::uint32_t> receivers = receiversOf(movement, graph);
  shareOutReceivers(movement, receivers);
  const std::vector<std::uint32_t> &levels = graph.levels();
  arrived_.resize(movement.statements.size());
  for (std::uint32_t s = 0, first = 0; s < movement.statements.size();) {
    for (const std::uint32_t level = levels[s]; s < movement.statements.size() && levels[s] == level; ++s)
      issue(program, graph, s);
    for (; first < s; ++first)
      arrive(movement, first, receivers[first]);
  }
}

void Nodes::numberInClocks() {
  const std::uint32_t blocks = [this] {
    std::uint32_t most = 0;
    for (std::size_t r = 0; r + 1 < firstAgent_.size(); ++r)
      most = std::max(most, firstAgent_[r + 1] - firstAgent_[r]);
    return most;
  }();
  inClocks_.resize(rankOf_.size());
  for (std::uint32_t block = 0, number = 0; block < blocks; ++block)
    for (std::size_t r = 0; r + 1 < firstAgent_.size(); ++r)
      if (firstAgent_[r] + block < firstAgent_[r + 1])
        inClocks_[firstAgent_[r] + block] = number++;
}

void Nodes::append(std::uint32_t statement, bool arrives, bool port, std::uint32_t agent) {
  const std::uint32_t index = lengths_[agent]++;
  if (!port)
    runs_[agent] = index + 1;
  settled_.push_back(runs_[agent]);
  places_.push_back({statement, arrives, agent, index});
}

void Nodes::issue(const ir::Program &program, const StatementGraph &graph, std::uint32_t statement) {
  const ir::Move &move = program.movement.statements[statement];
  issued_.push_back(size());
  append(statement, false, isPortPut(move), firstAgent_[*move.by] + *move.block);
  if (isPortPut(move))
    return;
  std::uint32_t last = ir::none;
  for (const Touch &touch : graph.touches(statement))
    if (touch.rank != *move.by && !touch.inScratch() && touch.rank != last)
      touching_[last = touch.rank].push_back(issued_.back());
}

/// Appends the arrival of a port's put. `receiver`: the block that waits for it; if this is ir::none, the partner of
/// the putting block waits.
void Nodes::arrive(const ir::Movement &movement, std::uint32_t statement, std::uint32_t receiver) {
  const ir::Move &move = movement.statements[statement];
  arrived_[statement] = issued_[statement];
  if (!isPortPut(move))
    return;
  const std::uint32_t to = movement.dsts(move)[0].rank;
  arrived_[statement] = size();
  append(statement, true, true,
         receiver == ir::none ? partnerOf(firstAgent_[*move.by] + *move.block, to) : firstAgent_[to] + receiver);
}

std::span<const Nodes::Reach> Nodes::reaching(std::uint32_t rank, std::uint32_t peer) const {
  const auto found = std::ranges::equal_range(reaching_[rank], peer, {}, &Reach::peer);
  return {found.begin(), found.end()};
}

std::uint32_t Nodes::partnerOf(std::uint32_t agent, std::uint32_t rank) const {
  const auto there = reaching(rankOf(agent), rank), back = reaching(rank, rankOf(agent));
  const auto which = std::ranges::find(there, blockOf(agent), &Reach::block);
  if (which != there.end() && !back.empty())
    return firstAgent_[rank] + back[std::min<std::size_t>(which - there.begin(), back.size() - 1)].block;
  const BlockOfRank own = seenFrom(rank, rankOf(agent), blockOf(agent));
  for (const auto &[via, most, blocks] : oneWay_)
    if (const auto at = std::ranges::lower_bound(blocks[rank], own);
        blocks[rank].size() > most && at != blocks[rank].end() && *at == own)
      return firstAgent_[rank] + static_cast<std::uint32_t>(at - blocks[rank].begin()) / most;
  return std::min(firstAgent_[rank] + blockOf(agent), firstRelayOf(rank) - 1);
}

std::vector<std::uint32_t> Nodes::sharedOutTo(std::uint32_t rank) const {
  std::vector<std::uint32_t> agents;
  for (const auto &[via, most, blocks] : oneWay_)
    for (std::size_t i = 0; blocks[rank].size() > most && i < blocks[rank].size(); ++i)
      agents.push_back(firstAgent_[blocks[rank][i].rank] + blocks[rank][i].block);
  return agents;
}

} // namespace mscclc::passes::schedule
