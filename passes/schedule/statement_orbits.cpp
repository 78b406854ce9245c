#include "passes/schedule/statement_orbits.h"

#include <algorithm>
#include <numeric>

namespace mscclc::passes::schedule {

StatementOrbits::StatementOrbits(const ir::Program &program, Analyses &analyses)
    : distances_(analyses.of<StatementDistances>(program).ranks()),
      ranks_(static_cast<std::uint32_t>(program.ranks.size())) {
  const ir::Movement &movement = program.movement;
  alike_ = ranks_ > 1 && distances_.areSymmetric() && areBuffersAlike(program) && distances_.keepNodes(movement) &&
           findPositions(movement) &&
           isSymmetric(movement, analyses.of<StatementGraph>(program), analyses.of<StatementDistances>(program));
  if (alike_) {
    for (std::uint32_t s = 0; s < movement.statements.size(); ++s)
      if (*movement.statements[s].by == 0)
        planned_.push_back(s);
    return;
  }
  standApart(movement.statements.size());
}

void StatementOrbits::standApart(std::size_t statements) {
  alike_ = false;
  positions_ = {};
  planned_.resize(statements);
  std::iota(planned_.begin(), planned_.end(), 0);
}

bool StatementOrbits::haveAlikeBlocks(const ir::Movement &movement) const {
  const std::vector<ir::Move> &statements = movement.statements;
  for (std::uint32_t s = 0; s < statements.size(); ++s)
    if (statements[s].block != statements[standsFor(s)].block)
      return false;
  return true;
}

StatementOrbits StatementOrbits::withBlocks(const ir::Movement &movement) const {
  StatementOrbits orbits = *this;
  if (!haveAlikeBlocks(movement))
    orbits.standApart(movement.statements.size());
  return orbits;
}

bool StatementOrbits::areBuffersAlike(const ir::Program &program) {
  const ir::Rank &first = program.ranks[0];
  return std::ranges::all_of(program.ranks, [&](const ir::Rank &rank) {
    return rank.inputChunks == first.inputChunks && rank.outputChunks == first.outputChunks &&
           rank.scratchChunks == first.scratchChunks;
  });
}

/// False if ranks do not execute equally many statements.
bool StatementOrbits::findPositions(const ir::Movement &movement) {
  const std::size_t length = movement.statements.size() / ranks_;
  std::vector<std::uint32_t> counts(ranks_, 0);
  positions_.reserve(movement.statements.size());
  for (const ir::Move &statement : movement.statements) {
    positions_.push_back(counts[*statement.by]++);
    if (positions_.back() == length)
      return false;
  }
  return length * ranks_ == movement.statements.size();
}

bool StatementOrbits::isSymmetric(const ir::Movement &movement, const StatementGraph &graph,
                                  const StatementDistances &distances) {
  const std::size_t length = movement.statements.size() / ranks_;
  std::vector<std::uint32_t> firsts(length); // [position]
  for (std::uint32_t s = 0; s < graph.size(); ++s)
    if (*movement.statements[s].by == 0)
      firsts[positions_[s]] = s;
  std::vector<std::vector<std::uint64_t>> needsOfFirst(length);
  for (std::size_t position = 0; position < length; ++position) {
    findNeeds(movement, graph, firsts[position], needsOfFirst[position]);
    for (const Dependence &d : graph.dependences(firsts[position]))
      if (*movement.statements[d.on].by != 0 && positions_[d.on] >= position)
        return false;
  }
  std::vector<std::uint64_t> needs;
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    const std::uint32_t position = positions_[s];
    if (*movement.statements[s].by == 0)
      continue;
    if (!isLikeFirst(movement, graph, distances, s, firsts[position]))
      return false;
    findNeeds(movement, graph, s, needs);
    if (needs != needsOfFirst[position])
      return false;
  }
  return true;
}

bool StatementOrbits::isLikeFirst(const ir::Movement &movement, const StatementGraph &graph,
                                  const StatementDistances &distances, std::uint32_t statement,
                                  std::uint32_t first) const {
  const ir::Move &a = movement.statements[statement], &b = movement.statements[first];
  const auto touchesAlike = [&](const Touch &x, const Touch &y) {
    return distances_.between(*a.by, x.rank) == y.rank && x.buffer == y.buffer && x.end - x.begin == y.end - y.begin &&
           x.access == y.access && x.form == y.form && (x.form == ir::DataForm::Plain || x.begin == y.begin);
  };
  return a.kind == b.kind && a.reduceOp == b.reduceOp && a.via == b.via && a.packets == b.packets &&
         a.numSrcs == b.numSrcs && a.numDsts == b.numDsts && distances.ofReach(statement) == distances.ofReach(first) &&
         distances.ofShare(statement) == distances.ofShare(first) &&
         std::ranges::equal(graph.touches(statement), graph.touches(first), touchesAlike);
}

/// What `statement` depends on, as its rank sees it, and how; sorted, so that it compares as a set.
void StatementOrbits::findNeeds(const ir::Movement &movement, const StatementGraph &graph, std::uint32_t statement,
                                std::vector<std::uint64_t> &needs) const {
  needs.clear();
  const std::uint32_t by = *movement.statements[statement].by;
  for (const Dependence &d : graph.dependences(statement)) {
    const std::uint32_t seen = distances_.between(by, *movement.statements[d.on].by);
    const std::uint64_t how = (static_cast<std::uint64_t>(d.hazard) * 2 + d.ofRead) * 2 + d.ofWrite;
    needs.push_back((std::uint64_t{positions_[d.on]} * ranks_ + seen) * 16 + how);
  }
  if (needs.size() > 1)
    std::ranges::sort(needs);
}

} // namespace mscclc::passes::schedule
