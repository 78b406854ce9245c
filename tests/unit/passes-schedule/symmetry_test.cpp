// Ranks that do the same are found, and what is planned for rank 0 is told of the right ones.
#include "statements.h"

#include "passes/pass_manager.h"
#include "passes/schedule/symmetry.h"

#include <optional>
#include <string_view>

namespace mscclc::passes::schedule {
namespace {

/// What Symmetry is made of, for a program that is ordered and cut.
struct Ordered {
  explicit Ordered(ir::Program given) : program(run(std::move(given))) {}

  static ir::Program run(ir::Program given) {
    PassManagerOptions options;
    options.target = *findTarget("none");
    PassManager manager(std::move(options), propertiesOf(given));
    REQUIRE(manager.add("place,order,cut").empty());
    ir::DiagnosticEngine diags;
    REQUIRE(manager.run(given, diags).ok);
    return given;
  }

  const ir::Program program;
  const StatementGraph graph{program};
  const StatementDistances distances{program};
  const Nodes nodes{program, graph, distances, ir::none};
  Analyses analyses;
  const StatementOrbits orbits{program, analyses};
  const Symmetry symmetry{program, graph, nodes, distances.ranks(), orbits};
};

/// An all-gather: each rank gives its share to all others; `but`: this one does not.
ir::Program allGather(std::uint32_t ranks, std::uint32_t ranksPerNode, std::optional<std::uint32_t> but = {}) {
  Statements statements(ir::CollectiveKind::AllGather, ranks, ranks, ranks, true);
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    for (std::uint32_t step = 1; step < ranks; ++step)
      if (rank != but)
        statements.copy({out((rank + step) % ranks, rank)}, out(rank, rank));
  statements.program.movement.ranksPerNode = ranksPerNode;
  statements.program.movement.blocks = 2;
  return std::move(statements.program);
}

} // namespace

TEST_CASE("of ranks that do the same one is planned, and its statements stand for those of the others") {
  for (const std::uint32_t perNode : {0u, 2u, 3u}) { // through memory, and through ports with what arrives
    const Ordered at(allGather(6, perNode));
    const Symmetry &symmetry = at.symmetry;
    REQUIRE(symmetry.holds());
    CHECK(symmetry.numPlannedRanks() == 1);
    CHECK(symmetry.numPlannedNodes() * 6 == at.nodes.size());
    CHECK(symmetry.numPlannedAgents() * 6 == at.nodes.numAgents());
    for (std::uint32_t copy = 0; copy < symmetry.numCopies(); ++copy) {
      for (std::uint32_t rank = 0; rank < 6; ++rank)
        CHECK(symmetry.rankSeenAs(copy, symmetry.seenRank(copy, rank)) == rank);
      for (std::uint32_t agent = 0; agent < at.nodes.numAgents(); ++agent)
        CHECK(symmetry.seenAgent(copy, symmetry.agentIn(copy, agent)) == agent);
      for (std::uint32_t s = 0; s < at.graph.size(); ++s) {
        const ir::Move &planned = at.program.movement.statements[s];
        const ir::Move &here = at.program.movement.statements[symmetry.statementIn(copy, s)];
        CHECK(symmetry.seenRank(copy, *here.by) == *planned.by);
        CHECK(here.block == planned.block);
        CHECK(symmetry.seenRank(copy, at.program.movement.dsts(here)[0].rank) ==
              at.program.movement.dsts(planned)[0].rank);
      }
    }
  }
}

TEST_CASE("where a rank does something else, all are planned") {
  const Ordered broken(allGather(6, 0, 4));
  const Symmetry &symmetry = broken.symmetry;
  CHECK(!symmetry.holds());
  CHECK(symmetry.isPlanned(5));
  CHECK(symmetry.numPlannedRanks() == 6);
  CHECK(symmetry.numCopies() == 1);
  CHECK(symmetry.plannedNode(7) == 7);
  CHECK(symmetry.seenRank(2, 5) == 5);
  CHECK(symmetry.statementIn(0, 7) == 7);
}

TEST_CASE("ranks do the same where they need the same in another order") {
  // Of two that exchange chunks in place, each needs that its own has gone out and that the other's has come in. Which
  // was first depends on who is who, for ranks that are opposite each other.
  Statements statements(ir::CollectiveKind::AllToAll, 4, 4, 4, true, 3);
  for (std::uint32_t low = 0; low < 4; ++low)
    for (std::uint32_t high = low + 1; high < 4; ++high) {
      const auto slot = [](std::uint32_t rank, std::uint32_t of) { return scratch(rank, of > rank ? of - 1 : of); };
      statements.copy({slot(low, high)}, in(high, low));
      statements.copy({slot(high, low)}, in(low, high));
      statements.copy({in(low, high)}, slot(low, high));
      statements.copy({in(high, low)}, slot(high, low));
    }
  CHECK(Ordered(std::move(statements.program)).symmetry.holds());
}

TEST_CASE("a clock takes over what another rank knows of agents by other numbers") {
  constexpr std::uint32_t ranks = 5, blocks = 20; // several pages, which ranks do not fill
  AgentClocks clocks(ranks * blocks);
  std::vector<std::uint32_t> seen; // by rank 3
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    seen.push_back((rank + ranks - 3) % ranks);
  Clock told, clock;
  for (const std::uint32_t block : {0u, 7u, 19u})
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      clocks.raise(told, block * ranks + rank, 1 + block + rank);
  clocks.raise(clock, 7 * ranks + 1, 100);
  const Clock before = clock;
  clocks.join(clock, told, seen);
  for (std::uint32_t block = 0; block < blocks; ++block)
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const bool isTold = block == 0 || block == 7 || block == 19;
      const std::uint32_t own = block == 7 && rank == 1 ? 100 : 0;
      CHECK(clocks.at(clock, block * ranks + rank) == std::max(own, isTold ? 1 + block + seen[rank] : 0));
      CHECK(clocks.at(before, block * ranks + rank) == own);
    }
}

} // namespace mscclc::passes::schedule
