// Statements that correspond on all ranks are found, and clocks are joined as another rank sees them.
#include "statements.h"

#include "passes/pass_manager.h"
#include "passes/schedule/agent_clocks.h"
#include "passes/schedule/statement_orbits.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace mscclc::passes::schedule {
namespace {

/// Each rank puts its share into the next one's output, in two pieces; `change` may alter what is put before.
StatementOrbits orbitsOf(std::uint32_t ranks, auto &&change) {
  Statements statements(ir::CollectiveKind::AllToAll, ranks, 2 * ranks, 2 * ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    for (const std::uint32_t piece : {0u, 1u}) {
      const std::uint32_t next = (rank + 1) % ranks;
      statements.copy({out(next, 2 * rank + piece)}, in(rank, 2 * next + piece));
    }
  change(statements.program);
  PassManager manager({}, propertiesOf(statements.program));
  REQUIRE(manager.add("place,order").empty());
  ir::DiagnosticEngine diags;
  REQUIRE(manager.run(statements.program, diags).ok);
  Analyses analyses;
  return {statements.program, analyses};
}

} // namespace

TEST_CASE("statements of ranks that do the same stand for each other") {
  const StatementOrbits orbits = orbitsOf(5, [](ir::Program &) {});
  REQUIRE(orbits.areRanksAlike());
  CHECK(orbits.planned().size() == 2);
  for (std::uint32_t s = 0; s < 10; ++s)
    CHECK(std::ranges::count(orbits.planned(), orbits.standsFor(s)) == 1);
  CHECK(orbits.seenRank(3, 4) == 1);
  CHECK(orbits.seenRank(3, 3) == 0);
}

TEST_CASE("ranks are told apart by what a statement is, how much it moves, and what it is given") {
  const auto areAlikeWith = [](auto &&change) { return orbitsOf(4, change).areRanksAlike(); };
  CHECK(areAlikeWith([](ir::Program &) {}));
  CHECK_FALSE(areAlikeWith([](ir::Program &p) { p.movement.statements.pop_back(); }));
  CHECK(areAlikeWith([](ir::Program &p) {
    for (ir::Move &statement : p.movement.statements)
      statement.block = 1;
  }));
  CHECK_FALSE(areAlikeWith([](ir::Program &p) { p.movement.statements[2].by = 2; })); // read, not put
  CHECK_FALSE(areAlikeWith([](ir::Program &p) { p.movement.places[1].index = 7; }));  // another share
}

TEST_CASE("statements of different blocks do not stand for each other where blocks count") {
  Statements statements(ir::CollectiveKind::AllGather, 2, 1, 2, true);
  ir::Movement &movement = statements.copy({out(1, 0)}, out(0, 0)).copy({out(0, 1)}, out(1, 1)).program.movement;
  for (ir::Move &statement : movement.statements) {
    statement.by = movement.srcs(statement)[0].rank;
    statement.via = ir::Via::Memory;
  }
  Analyses analyses;
  const StatementOrbits orbits(statements.program, analyses);
  REQUIRE(orbits.areRanksAlike());
  CHECK(orbits.withBlocks(movement) == orbits);
  movement.statements[0].block = 0;
  CHECK_FALSE(orbits.withBlocks(movement).areRanksAlike());
  CHECK(orbits.withBlocks(movement).planned().size() == 2);
  movement.statements[1].block = 0;
  CHECK(orbits.withBlocks(movement).areRanksAlike());
}

TEST_CASE("where ranks differ every statement stands for itself") {
  const StatementOrbits orbits = orbitsOf(3, [](ir::Program &p) { p.movement.statements.pop_back(); });
  REQUIRE_FALSE(orbits.areRanksAlike());
  CHECK(orbits.planned().size() == 5);
  CHECK(orbits.standsFor(4) == 4);
  CHECK(orbits.seenRank(2, 1) == 1);
}

TEST_CASE("a clock is joined with one that numbers ranks otherwise") {
  std::mt19937 random(7);
  for (const std::uint32_t ranks : {3u, 8u, 48u, 100u})
    for (const std::uint32_t blocks : {1u, 5u})
      for (int round = 0; round < 20; ++round) {
        const std::uint32_t agents = ranks * blocks, step = random() % ranks;
        std::vector<std::uint32_t> seen(ranks), expected(agents), told(agents);
        for (std::uint32_t r = 0; r < ranks; ++r)
          seen[r] = round % 2 == 0 || (ranks & (ranks - 1)) != 0 ? (r + step) % ranks : r ^ step;
        AgentClocks clocks(agents);
        Clock clock, other;
        for (std::uint32_t i = 0; i < agents; ++i)
          if (random() % 3 == 0)
            clocks.raise(clock, i, expected[i] = random() % 50);
        const Clock before = clock; // shares its pages
        for (std::uint32_t i = 0; i < agents; ++i)
          if (random() % 3 == 0)
            clocks.raise(other, i, told[i] = random() % 50);
        std::vector<std::uint32_t> unchanged = expected;
        for (std::uint32_t i = 0; i < agents; ++i)
          expected[i] = std::max(expected[i], told[i / ranks * ranks + seen[i % ranks]]);
        clocks.join(clock, other, seen);
        for (std::uint32_t i = 0; i < agents; ++i) {
          INFO(ranks << " ranks, " << blocks << " blocks, agent " << i);
          REQUIRE(clocks.at(clock, i) == expected[i]);
          REQUIRE(clocks.at(before, i) == unchanged[i]);
          REQUIRE(clocks.at(other, i) == told[i]);
        }
      }
}

} // namespace mscclc::passes::schedule
