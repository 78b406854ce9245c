#include "passes/schedule/statement_symmetry.h"

#include "passes/schedule/statement_distances.h"
#include "passes/schedule/statement_graph.h"

#include <algorithm>

namespace mscclc::passes::schedule {
namespace {

bool haveEqualBuffers(const ir::Program &program) {
  const ir::Rank &first = program.ranks[0];
  return std::ranges::all_of(program.ranks, [&](const ir::Rank &rank) {
    return rank.inputChunks == first.inputChunks && rank.outputChunks == first.outputChunks &&
           rank.scratchChunks == first.scratchChunks;
  });
}

/// The statements, in the form that RankSymmetry requires.
struct StatementStage {
  const ir::Movement &movement;
  const StatementGraph &graph;
  const StatementDistances &distances;

  std::uint32_t rankOf(std::uint32_t statement) const { return *movement.statements[statement].by; }

  bool isAs(std::uint32_t statement, std::uint32_t first) const {
    const ir::Move &a = movement.statements[statement], &b = movement.statements[first];
    const auto isSameTouch = [&](const Touch &x, const Touch &y) {
      return distances.between(*a.by, x.rank) == y.rank && x.buffer == y.buffer && x.end - x.begin == y.end - y.begin &&
             x.access == y.access && x.form == y.form && (x.form == ir::DataForm::Plain || x.begin == y.begin);
    };
    return a.kind == b.kind && a.reduceOp == b.reduceOp && a.hook == b.hook && a.via == b.via &&
           a.packets == b.packets && a.firstAfter == b.firstAfter && a.numSrcs == b.numSrcs && a.numDsts == b.numDsts &&
           distances.ofReach(statement) == distances.ofReach(first) &&
           distances.ofShare(statement) == distances.ofShare(first) &&
           std::ranges::equal(graph.touches(statement), graph.touches(first), isSameTouch);
  }

  void eachNeed(std::uint32_t statement, auto &&visit) const {
    for (const Dependence &d : graph.dependences(statement))
      visit(d.on, (static_cast<std::uint64_t>(d.hazard) * 2 + d.ofRead) * 2 + d.ofWrite);
  }
};

} // namespace

StatementSymmetry::StatementSymmetry(const ir::Program &program, Analyses &analyses)
    : RankSymmetry(analyses.of<StatementDistances>(program).ranks(), program.movement.statements.size()) {
  const auto &distances = analyses.of<StatementDistances>(program);
  if (distances.ranks().areSymmetric() && haveEqualBuffers(program) && distances.ranks().keepNodes(program.movement))
    findOut(StatementStage{program.movement, analyses.of<StatementGraph>(program), distances});
}

bool StatementSymmetry::keepsBlocks(const ir::Movement &movement) const {
  const std::vector<ir::Move> &statements = movement.statements;
  for (std::uint32_t s = 0; s < statements.size(); ++s)
    if (statements[s].block != statements[representativeItem(s)].block)
      return false;
  return true;
}

StatementSymmetry StatementSymmetry::withBlocks(const ir::Movement &movement) const {
  StatementSymmetry symmetry = *this;
  if (!keepsBlocks(movement))
    symmetry.standApart(movement.statements.size());
  return symmetry;
}

} // namespace mscclc::passes::schedule
