#include "passes/schedule/symmetry.h"

#include <algorithm>

namespace mscclc::passes::schedule {

static constexpr std::uint64_t numHazards = static_cast<std::uint64_t>(Hazard::Reuse) + 1;

Symmetry::Symmetry(const ir::Program &program, const StatementGraph &graph, const Nodes &nodes,
                   const RankDistances &distances, const StatementOrbits &orbits)
    : nodes_(nodes), ranks_(static_cast<std::uint32_t>(program.ranks.size())), blocks_(nodes.agentsOf(0).second) {
  if (!distances.areSymmetric() || ranks_ == 1)
    return;
  seen_.reserve(std::size_t{ranks_} * ranks_);
  for (std::uint32_t from = 0; from < ranks_; ++from)
    for (std::uint32_t rank = 0; rank < ranks_; ++rank)
      seen_.push_back(distances.between(from, rank));
  holds_ = distances.keepNodes(program.movement) && haveEquallyManyBlocks() && findPositions() && arePartnersAlike() &&
           (isShown(program.movement, orbits) || areNodesAlike(program.movement, graph));
}

/// True if what is known of statements shows it. What ports put arrives besides.
bool Symmetry::isShown(const ir::Movement &movement, const StatementOrbits &orbits) const {
  return orbits.areRanksAlike() && nodes_.size() == movement.statements.size() && orbits.haveAlikeBlocks(movement);
}

bool Symmetry::areNodesAlike(const ir::Movement &movement, const StatementGraph &graph) const {
  const std::uint32_t length = nodes_.size() / ranks_;
  std::vector<std::uint64_t> needs, needsOfFirst;
  for (std::uint32_t position = 0; position < length; ++position) {
    const std::uint32_t first = nodeOf(0, position);
    findNeeds(graph, first, needsOfFirst);
    for (const std::uint64_t need : needsOfFirst)
      if (const std::uint64_t number = need / numHazards; number % ranks_ != 0 && number / ranks_ >= position)
        return false;
    for (std::uint32_t rank = 1; rank < ranks_; ++rank) {
      const std::uint32_t node = nodeOf(rank, position);
      if (!isLike(movement, graph, node, first))
        return false;
      findNeeds(graph, node, needs);
      if (needs != needsOfFirst)
        return false;
    }
  }
  return true;
}

bool Symmetry::haveEquallyManyBlocks() const {
  for (std::uint32_t r = 0; r < ranks_; ++r)
    if (nodes_.agentsOf(r).first != r * blocks_ || nodes_.agentsOf(r).second != (r + 1) * blocks_)
      return false;
  return true;
}

/// False if ranks have not equally many nodes.
bool Symmetry::findPositions() {
  const std::uint32_t length = nodes_.size() / ranks_;
  std::vector<std::uint32_t> counts(ranks_, 0);
  nodesOf_.resize(nodes_.size());
  positions_.resize(nodes_.size());
  for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
    const std::uint32_t rank = nodes_.rankOf(nodes_.at(n).agent), position = counts[rank]++;
    if (position == length)
      return false;
    positions_[n] = position;
    nodesOf_[std::size_t{rank} * length + position] = n;
  }
  return length * ranks_ == nodes_.size();
}

/// What `node` needs, as its rank sees it, and why; sorted, so that it compares as a set.
void Symmetry::findNeeds(const StatementGraph &graph, std::uint32_t node, std::vector<std::uint64_t> &needs) const {
  const Nodes::Place &place = nodes_.at(node);
  const auto seen = seenFrom(nodes_.rankOf(place.agent));
  needs.clear();
  if (place.arrives) {
    needs.push_back(seenNode(seen, nodes_.ofStatement(place.statement)) * numHazards);
    return;
  }
  for (const Dependence &d : graph.dependences(place.statement)) {
    const auto hazard = static_cast<std::uint64_t>(d.hazard);
    nodes_.eachCompleting(
        d, [&](std::uint32_t completing) { needs.push_back(seenNode(seen, completing) * numHazards + hazard); });
  }
  if (needs.size() > 1)
    std::ranges::sort(needs);
}

/// Whether `node` does what `first` does, the node of rank 0 at the same position.
bool Symmetry::isLike(const ir::Movement &movement, const StatementGraph &graph, std::uint32_t node,
                      std::uint32_t first) const {
  const Nodes::Place &mine = nodes_.at(node), &theirs = nodes_.at(first);
  const ir::Move &a = movement.statements[mine.statement], &b = movement.statements[theirs.statement];
  const auto seen = seenFrom(nodes_.rankOf(mine.agent));
  const auto touchesAlike = [&](const Touch &x, const Touch &y) {
    return seen[x.rank] == y.rank && x.inScratch() == y.inScratch() && x.access == y.access && x.form == y.form;
  };
  return nodes_.blockOf(mine.agent) == nodes_.blockOf(theirs.agent) && mine.arrives == theirs.arrives &&
         nodes_.countAtArrival(node) == nodes_.countAtArrival(first) && a.kind == b.kind && a.via == b.via &&
         a.packets == b.packets &&
         std::ranges::equal(graph.touches(mine.statement), graph.touches(theirs.statement), touchesAlike);
}

/// Whether blocks that are shared out fall to the same blocks of each rank.
bool Symmetry::arePartnersAlike() const {
  for (std::uint32_t r = 1; r < ranks_; ++r)
    for (const std::uint32_t agent : nodes_.sharedOutTo(r)) {
      const std::uint32_t like = seenFrom(r)[nodes_.rankOf(agent)] * blocks_ + nodes_.blockOf(agent);
      if (nodes_.blockOf(nodes_.partnerOf(agent, r)) != nodes_.blockOf(nodes_.partnerOf(like, 0)))
        return false;
    }
  return true;
}

std::uint32_t Symmetry::statementIn(std::uint32_t copy, std::uint32_t statement) const {
  if (!holds_)
    return statement;
  const std::uint32_t node = nodes_.ofStatement(statement);
  return nodes_.at(nodeOf(rankSeenAs(copy, nodes_.rankOf(nodes_.at(node).agent)), positions_[node])).statement;
}

} // namespace mscclc::passes::schedule
