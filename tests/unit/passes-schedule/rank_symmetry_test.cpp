// What RankSymmetry claims is so: the image of each item is a copy of it, and
// needs the images of what it needs.
#include "statements.h"

#include "passes/pass_manager.h"
#include "passes/schedule/node_symmetry.h"
#include "passes/schedule/statement_distances.h"

#include <algorithm>
#include <optional>
#include <random>
#include <tuple>

namespace mscclc::passes::schedule {
namespace {

/// A program that is ordered and cut, and its symmetries.
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

  const ir::Move &move(std::uint32_t statement) const { return program.movement.statements[statement]; }
  std::uint32_t by(std::uint32_t statement) const { return *move(statement).by; }

  const ir::Program program;
  const StatementGraph graph{program};
  const StatementDistances distances{program};
  const Nodes nodes{program, graph, distances, ir::none};
  Analyses analyses;
  const StatementSymmetry statements{program, analyses};
  const NodeSymmetry symmetry{program, graph, nodes, distances.ranks(), statements};
};

void checkRanks(const RankSymmetry &symmetry) {
  const std::uint32_t ranks = symmetry.numRanks();
  for (std::uint32_t from = 0; from < ranks; ++from) {
    CHECK(symmetry.seenFrom(from, from) == symmetry.representative(from));
    CHECK(symmetry.imageOfRank(symmetry.representative(from), from) == from);
    CHECK(symmetry.imageOfRank(from, symmetry.inverseOf(from)) == symmetry.representative(from));
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      CHECK(symmetry.imageOfRank(symmetry.seenFrom(from, rank), from) == rank);
      CHECK(symmetry.seenFrom(from, symmetry.imageOfRank(rank, from)) == rank);
    }
  }
}

/// Checks symmetry in another way than the analysis: each statement of rank 0 is mapped to each rank, and compared with
/// the statement there.
void checkStatements(const Ordered &at) {
  const StatementSymmetry &symmetry = at.statements;
  REQUIRE(symmetry.holds());
  checkRanks(symmetry);
  const ir::Movement &movement = at.program.movement;
  const std::uint32_t ranks = symmetry.numRanks(), length = at.graph.size() / ranks;
  CHECK(symmetry.representatives().size() == length);
  std::vector<bool> isImage(at.graph.size(), false);
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    for (std::uint32_t position = 0; position < length; ++position) {
      const std::uint32_t first = symmetry.representatives()[position], image = symmetry.itemAt(rank, position);
      CHECK_FALSE(isImage[image]);
      isImage[image] = true;
      CHECK(symmetry.representativeItem(image) == first);
      CHECK(at.by(image) == rank);
      const ir::Move &a = at.move(first), &b = at.move(image);
      CHECK(std::tie(a.kind, a.reduceOp, a.via, a.packets, a.numSrcs, a.numDsts) ==
            std::tie(b.kind, b.reduceOp, b.via, b.packets, b.numSrcs, b.numDsts));
      for (std::uint32_t i = 0; i < a.numSrcs + a.numDsts; ++i) {
        const ir::RankChunk &x = movement.places[a.firstPlace + i], &y = movement.places[b.firstPlace + i];
        CHECK(symmetry.imageOfRank(x.rank, rank) == y.rank);
        CHECK(x.buffer == y.buffer);
        CHECK(x.size == y.size);
      }
      std::vector<std::tuple<std::uint32_t, Hazard, bool, bool>> images, needed;
      for (const Dependence &d : at.graph.dependences(first))
        images.emplace_back(symmetry.itemAt(symmetry.imageOfRank(at.by(d.on), rank), symmetry.positionOf(d.on)),
                            d.hazard, d.ofRead, d.ofWrite);
      for (const Dependence &d : at.graph.dependences(image)) {
        needed.emplace_back(d.on, d.hazard, d.ofRead, d.ofWrite);
        CHECK((at.by(d.on) == rank || symmetry.positionOf(d.on) < position));
      }
      std::ranges::sort(images);
      std::ranges::sort(needed);
      CHECK(images == needed);
    }
}

void checkNodes(const Ordered &at) {
  const NodeSymmetry &symmetry = at.symmetry;
  REQUIRE(symmetry.holds());
  checkRanks(symmetry);
  const std::uint32_t ranks = symmetry.numRanks();
  CHECK(symmetry.representatives().size() * ranks == at.nodes.size());
  CHECK(symmetry.numRepresentativeAgents() * ranks == at.nodes.numAgents());
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    for (std::uint32_t agent = 0; agent < at.nodes.numAgents(); ++agent) {
      const std::uint32_t image = symmetry.imageOfAgent(agent, rank);
      CHECK(symmetry.agentSeenFrom(rank, image) == agent);
      CHECK(symmetry.representativeAgent(image) == symmetry.representativeAgent(agent));
      CHECK(at.nodes.lengthOf(image) == at.nodes.lengthOf(agent));
    }
    for (std::uint32_t s = 0; s < at.graph.size(); ++s) {
      const ir::Move &here = at.move(s), &image = at.move(symmetry.imageOfStatement(s, rank));
      CHECK(symmetry.imageOfRank(*here.by, rank) == *image.by);
      CHECK(here.block == image.block);
      const auto rankOf = [&](const ir::Move &move) { return at.program.movement.dsts(move)[0].rank; };
      CHECK(symmetry.imageOfRank(rankOf(here), rank) == rankOf(image));
    }
  }
}

/// Each rank has its own copy of every statement. It reads inputs of ranks at some distance, or data that earlier
/// statements have written there, and writes its output. The copies may depend on different things if one reads what
/// another copy writes.
ir::Program random(std::mt19937 &random, std::uint32_t ranks, std::uint32_t perNode, bool byBits) {
  constexpr std::uint32_t chunks = 2;
  Statements statements(ir::CollectiveKind::AllToAll, ranks, chunks * ranks, chunks * ranks);
  const auto moved = [&](std::uint32_t rank, std::uint32_t step) {
    return byBits ? rank ^ step : (rank + step) % ranks;
  };
  struct Operand {
    std::uint32_t step;
    std::optional<std::size_t> written; ///< by which kind of statements
  };
  std::vector<std::uint32_t> shares; // that are written, of each kind of statements
  const auto resultOf = [&](std::size_t kind, std::uint32_t rank) {
    return out(rank, chunks * moved(rank, shares[kind]) + static_cast<std::uint32_t>(kind) / 2);
  };
  for (std::uint32_t i = 0, count = 1 + random() % 4; i < count; ++i) {
    shares.push_back(random() % ranks);
    const std::uint32_t share = random() % ranks;
    const auto any = [&] {
      const std::optional<std::size_t> written =
          random() % 3 == 0 ? std::optional<std::size_t>(random() % (i + 1)) : std::nullopt;
      return Operand{static_cast<std::uint32_t>(random() % ranks), written};
    };
    const Operand from = any(), other = any();
    const bool reduces = from.step != other.step && random() % 2 == 0;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const auto place = [&](const Operand &operand) {
        const std::uint32_t peer = moved(rank, operand.step);
        return operand.written ? resultOf(*operand.written, peer) : in(peer, chunks * moved(rank, share) + i % 2);
      };
      const ir::RankChunk result = resultOf(i, rank);
      if (reduces)
        statements.reduce({result}, {place(from), place(other)});
      else if (place(from) != result)
        statements.copy({result}, place(from));
    }
  }
  ir::Movement &movement = statements.program.movement;
  movement.ranksPerNode = perNode;
  movement.pull = random() % 2 == 0;
  movement.blocks = 1 + random() % 3;
  return std::move(statements.program);
}

/// An all-gather: each rank gives its share to all others; `but`: this one does
/// not.
ir::Program allGatherBut(std::uint32_t ranks, std::uint32_t ranksPerNode, std::optional<std::uint32_t> but = {}) {
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

TEST_CASE("images are copies, in random programs whose ranks do the same") {
  std::mt19937 numbers(30);
  int found = 0, ofNodes = 0;
  for (int round = 0; round < 80; ++round) {
    const bool byBits = round % 2 == 0;
    const std::uint32_t ranks = byBits ? 4u << round % 4 / 2 : 3 + round % 5;
    INFO("round " << round << ", " << ranks << " ranks");
    ir::Program program = random(numbers, ranks, 0, byBits);
    const Ordered at(program);
    found += at.statements.holds();
    ofNodes += at.symmetry.holds();
    if (at.statements.holds())
      checkStatements(at);
    if (at.symmetry.holds())
      checkNodes(at);
    // One rank writes something else.
    ir::Move &other = program.movement.statements[numbers() % program.movement.statements.size()];
    program.movement.places[other.firstPlace + other.numSrcs].index ^= 1;
    const Ordered broken(std::move(program));
    if (broken.statements.holds())
      checkStatements(broken);
    if (broken.symmetry.holds())
      checkNodes(broken);
  }
  CHECK(found >= 45);
  CHECK(ofNodes >= 45);
}

TEST_CASE("ranks do not do the same where they need other things") {
  // Around a ring, each reads what the next one overwrites later; but the last one reads what the first has written.
  Statements statements(ir::CollectiveKind::AllToAll, 4, 4, 4);
  for (std::uint32_t rank = 0; rank < 4; ++rank)
    statements.copy({out(rank, rank)}, out((rank + 1) % 4, (rank + 1) % 4));
  const Ordered at(std::move(statements.program));
  CHECK(at.distances.ranks().areSymmetric());
  CHECK_FALSE(at.statements.holds());
  CHECK_FALSE(at.symmetry.holds());
}

TEST_CASE("images are copies where ranks put through ports, and what they put "
          "arrives") {
  for (const std::uint32_t perNode : {0u, 2u, 3u}) {
    const Ordered at(allGatherBut(6, perNode));
    checkStatements(at);
    checkNodes(at);
  }
}

TEST_CASE("where a rank does something else each represents itself") {
  const Ordered at(allGatherBut(6, 0, 4));
  REQUIRE_FALSE(at.statements.holds());
  REQUIRE_FALSE(at.symmetry.holds());
  checkRanks(at.symmetry);
  CHECK(at.symmetry.isRepresentative(5));
  CHECK(at.symmetry.numRepresentatives() == 6);
  CHECK(at.statements.representatives().size() == at.graph.size());
  CHECK(at.statements.representativeItem(7) == 7);
  CHECK(at.symmetry.imageOfStatement(7, 3) == 7);
  CHECK(at.symmetry.imageOfRank(5, 2) == 5);
}

TEST_CASE("ranks do the same where they need the same in another order") {
  // Of two that exchange chunks in place, each needs that its own has gone out
  // and that the other's has come in. Which was first depends on who is who,
  // for ranks that are opposite each other.
  Statements statements(ir::CollectiveKind::AllToAll, 4, 4, 4, true, 3);
  for (std::uint32_t low = 0; low < 4; ++low)
    for (std::uint32_t high = low + 1; high < 4; ++high) {
      const auto slot = [](std::uint32_t rank, std::uint32_t of) { return scratch(rank, of > rank ? of - 1 : of); };
      statements.copy({slot(low, high)}, in(high, low));
      statements.copy({slot(high, low)}, in(low, high));
      statements.copy({in(low, high)}, slot(low, high));
      statements.copy({in(high, low)}, slot(high, low));
    }
  checkNodes(Ordered(std::move(statements.program)));
}

TEST_CASE("statements of different blocks do not represent each other where "
          "blocks count") {
  Statements statements(ir::CollectiveKind::AllGather, 2, 1, 2, true);
  ir::Movement &movement = statements.copy({out(1, 0)}, out(0, 0)).copy({out(0, 1)}, out(1, 1)).program.movement;
  for (ir::Move &statement : movement.statements) {
    statement.by = movement.srcs(statement)[0].rank;
    statement.via = ir::Via::Memory;
  }
  Analyses analyses;
  const StatementSymmetry symmetry(statements.program, analyses);
  REQUIRE(symmetry.holds());
  CHECK(symmetry.withBlocks(movement) == symmetry);
  movement.statements[0].block = 0;
  CHECK_FALSE(symmetry.withBlocks(movement).holds());
  movement.statements[1].block = 0;
  CHECK(symmetry.withBlocks(movement).holds());
}

} // namespace mscclc::passes::schedule
