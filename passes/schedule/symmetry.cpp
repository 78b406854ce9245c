#include "passes/schedule/symmetry.h"

#include <algorithm>

namespace mscclc::passes::schedule {

Symmetry::Symmetry(const ir::Program &program, const StatementGraph &graph, const Nodes &nodes,
                   const RankDistances &distances)
    : nodes_(nodes), ranks_(static_cast<std::uint32_t>(program.ranks.size())), blocks_(nodes.agentsOf(0).second) {
  if (!distances.areSymmetric() || ranks_ == 1)
    return;
  seen_.reserve(std::size_t{ranks_} * ranks_);
  for (std::uint32_t from = 0; from < ranks_; ++from)
    for (std::uint32_t rank = 0; rank < ranks_; ++rank)
      seen_.push_back(distances.between(from, rank));
  holds_ = isSymmetric(program, graph);
}

bool Symmetry::isSymmetric(const ir::Program &program, const StatementGraph &graph) {
  const ir::Movement &movement = program.movement;
  for (std::uint32_t r = 0; r < ranks_; ++r) {
    if (nodes_.agentsOf(r).first != r * blocks_ || nodes_.agentsOf(r).second != (r + 1) * blocks_)
      return false;
    for (std::uint32_t other = 0; other < ranks_; ++other)
      if (movement.sameNode(r, other) != movement.sameNode(0, seenFrom(r)[other]))
        return false;
  }
  if (!findRounds())
    return false;
  for (std::uint32_t n = 0; n < nodes_.size(); ++n)
    if (!isLike(movement, graph, n, nodeOf(0, positions_[n])))
      return false;
  return areTouchedAlike() && arePartnersAlike();
}

/// False if ranks have not equally many nodes.
bool Symmetry::findRounds() {
  const std::uint32_t length = nodes_.size() / ranks_;
  std::vector<std::uint32_t> counts(ranks_, 0);
  nodesOf_.resize(nodes_.size());
  rounds_.resize(length);
  for (std::uint32_t n = 0, most = 0, round = 0; n < nodes_.size(); ++n) {
    const std::uint32_t rank = nodes_.rankOf(nodes_.at(n).agent), position = counts[rank]++;
    if (position == length)
      return false;
    positions_.push_back(position);
    nodesOf_[std::size_t{rank} * length + position] = n;
    if (rank == 0)
      rounds_[position] = round;
    most = std::max(most, position + 1);
    round += most * ranks_ == n + 1; // each rank has had as many
  }
  return length * ranks_ == nodes_.size();
}

/// Whether `node` is to `rank` what `first` is to rank 0.
bool Symmetry::isSame(std::uint32_t rank, std::uint32_t node, std::uint32_t first) const {
  return positions_[node] == positions_[first] &&
         seenFrom(rank)[nodes_.rankOf(nodes_.at(node).agent)] == nodes_.rankOf(nodes_.at(first).agent);
}

/// `first`: the node of rank 0 at the same position.
bool Symmetry::isLike(const ir::Movement &movement, const StatementGraph &graph, std::uint32_t node,
                      std::uint32_t first) {
  const Nodes::Place &mine = nodes_.at(node), &theirs = nodes_.at(first);
  const ir::Move &a = movement.statements[mine.statement], &b = movement.statements[theirs.statement];
  const std::uint32_t rank = nodes_.rankOf(mine.agent);
  const auto touchesAlike = [&](const Touch &x, const Touch &y) {
    return seenFrom(rank)[x.rank] == y.rank && x.inScratch() == y.inScratch() && x.access == y.access &&
           x.form == y.form;
  };
  return nodes_.blockOf(mine.agent) == nodes_.blockOf(theirs.agent) && mine.arrives == theirs.arrives &&
         nodes_.countAtArrival(node) == nodes_.countAtArrival(first) && a.kind == b.kind && a.via == b.via &&
         a.packets == b.packets &&
         isSame(rank, nodes_.ofStatement(mine.statement), nodes_.ofStatement(theirs.statement)) &&
         std::ranges::equal(graph.touches(mine.statement), graph.touches(theirs.statement), touchesAlike) &&
         (mine.arrives || needsTheSame(movement, graph, node, first));
}

/// In the same order, and nothing of another rank in its own round.
bool Symmetry::needsTheSame(const ir::Movement &movement, const StatementGraph &graph, std::uint32_t node,
                            std::uint32_t first) {
  const std::uint32_t mine = nodes_.at(node).statement, theirs = nodes_.at(first).statement;
  const std::uint32_t rank = nodes_.rankOf(nodes_.at(node).agent);
  const std::span<const Dependence> a = graph.dependences(mine), b = graph.dependences(theirs);
  if (!std::ranges::equal(a, b, [&](const Dependence &x, const Dependence &y) {
        return x.hazard == y.hazard && isSame(rank, nodes_.ofStatement(x.on), nodes_.ofStatement(y.on));
      }))
    return false;
  const auto isPut = [&](const Dependence &d) { return isPortPut(movement.statements[d.on]); };
  const auto find = [&](std::uint32_t statement, std::vector<std::uint32_t> &needed) {
    needed.clear();
    for (const Dependence &d : graph.dependences(statement)) {
      nodes_.findCompleting(graph, d.on, statement, completing_);
      needed.insert(needed.end(), completing_.begin(), completing_.end());
    }
    std::ranges::sort(needed);
  };
  find(mine, needed_);
  if (std::ranges::any_of(a, isPut)) {
    find(theirs, neededByFirst_);
    if (!std::ranges::equal(needed_, neededByFirst_,
                            [&](std::uint32_t x, std::uint32_t y) { return isSame(rank, x, y); }))
      return false;
  }
  return std::ranges::all_of(needed_, [&](std::uint32_t n) {
    return nodes_.rankOf(nodes_.at(n).agent) == rank || roundOf(n) < roundOf(node);
  });
}

/// Whether the same nodes touch input and output of each rank, in the same order.
bool Symmetry::areTouchedAlike() const {
  for (std::uint32_t r = 1; r < ranks_; ++r)
    if (!std::ranges::equal(nodes_.touchingBuffersOf(r), nodes_.touchingBuffersOf(0),
                            [&](std::uint32_t x, std::uint32_t y) { return isSame(r, x, y); }))
      return false;
  return true;
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
