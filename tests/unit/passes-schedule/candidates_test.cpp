// Candidates share what parts of the passes make, and where all ranks do the same, they are rank 0 alone. What is said
// of them holds for the whole program.
#include "alone.h"

#include "ir/text.h"

#include <string>

namespace mscclc::passes::schedule {
namespace {

/// What a program is tried for; refers to itself.
struct Trial {
  explicit Trial(ir::Program given, std::string_view targetName = "none")
      : program(std::move(given)), target(*findTarget(targetName)) {}

  ir::Program program;
  time::Machine machine = time::findMachine("h100x8*2");
  Target target;
  ChooseOptions options{.machine = machine, .messageBytes = std::uint64_t{1} << 20, .target = target};
  Candidates candidates{program, options};
};

/// Each rank gives its share to all others, on nodes of `perNode` ranks, or all on one.
ir::Program allGather(std::uint32_t ranks, std::uint32_t perNode) {
  Statements statements(ir::CollectiveKind::AllGather, ranks, 1, ranks, true);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const RankChunks all = outOfAll(rank, ranks);
    statements.copy({all.begin() + 1, all.end()}, all.front());
  }
  statements.program.movement.ranksPerNode = perNode;
  return std::move(statements.program);
}

/// An all-reduce around the ring. Operands go through scratch, or are read directly.
ir::Program ring(std::uint32_t ranks, std::uint32_t perNode) {
  Statements statements(ir::CollectiveKind::AllReduce, ranks, ranks, ranks, true);
  for (std::uint32_t step = 1; step < 2 * ranks - 1; ++step)
    for (std::uint32_t share = 0; share < ranks; ++share) {
      const std::uint32_t to = (share + step) % ranks, from = (share + step - 1) % ranks;
      if (step < ranks)
        statements.reduce({out(to, share)}, {out(to, share), out(from, share)});
      else
        statements.copy({out(to, share)}, out(from, share));
    }
  statements.program.movement.ranksPerNode = perNode;
  return std::move(statements.program);
}

/// Recursive doubling: ranks whose numbers differ in one bit are partners, and number what is between them otherwise.
ir::Program doubling(std::uint32_t ranks, std::uint32_t perNode) {
  Statements statements(ir::CollectiveKind::AllReduce, ranks, ranks, ranks, true, 1);
  for (std::uint32_t bit = 1; bit < ranks; bit *= 2)
    for (std::uint32_t share = 0; share < ranks; ++share)
      for (std::uint32_t rank = 0; rank < ranks; ++rank)
        if (((rank ^ share) & (2 * bit - 1)) == 0)
          statements.reduce({out(rank, share)}, {out(rank, share), out(rank ^ bit, share)});
  for (std::uint32_t bit = ranks / 2; bit != 0; bit /= 2)
    for (std::uint32_t share = 0; share < ranks; ++share)
      for (std::uint32_t rank = 0; rank < ranks; ++rank)
        if (((rank ^ share) & (2 * bit - 1)) == 0)
          statements.copy({out(rank ^ bit, share)}, out(rank, share));
  for (ir::Rank &rank : statements.program.ranks)
    rank.scratchChunks = 0;
  statements.program.movement.ranksPerNode = perNode;
  return std::move(statements.program);
}

std::string textOf(const ir::Program &program) {
  std::string text;
  ir::print(program, text);
  return text;
}

} // namespace

TEST_CASE("what is said of candidates holds for their programs") {
  for (const auto make : {allGather, ring, doubling})
    for (const std::uint32_t perNode : {0u, 4u}) {
      Trial trial(make(8, perNode)); // in which candidates share what they can
      for (const ir::Protocol protocol : {ir::Protocol::Simple, ir::Protocol::LL})
        for (const bool pull : {false, true})
          for (const std::uint32_t instances : {1u, 2u})
            for (const std::uint32_t blocks : {1u, 4u}) {
              INFO(trial.program.movement.statements.size()
                   << " statements, " << perNode << " ranks a node, " << toString(protocol) << ", pull " << pull << ", "
                   << instances << " instances, " << blocks << " blocks");
              const ScheduleChoices choices{
                  .protocol = protocol, .instances = instances, .pull = pull, .blocks = blocks};
              checkIsAlone(trial.candidates.tryOut(choices, {}), trial.program, trial.options);
            }
    }
}

TEST_CASE("a completed candidate is the program that its passes make") {
  for (const ir::Program &program : {ring(6, 0), allGather(8, 4), doubling(8, 4)})
    for (const ir::Protocol protocol : {ir::Protocol::Simple, ir::Protocol::LL}) {
      INFO(textOf(program) << toString(protocol));
      const ScheduleChoices choices{.protocol = protocol, .blocks = 2};
      Trial trial(program);
      REQUIRE_FALSE(trial.candidates.tryOut(choices, {}).refused);
      REQUIRE(trial.candidates.complete(0));

      ir::Program alone = program;
      apply(choices, alone);
      REQUIRE(runStages(alone, trial.target, Stage::Place, Stage::Tidy));
      CHECK(textOf(trial.candidates.wayOf(0).scheduled->passed.program) == textOf(alone));
    }
}

TEST_CASE("a candidate is refused when it is completed if another rank passes a limit") {
  ir::Program program = allGather(4, 0);
  program.maxMessageSize = std::uint64_t{12}
                           << 30; // the last rank's share is farther than the executor's offsets reach
  Trial trial(program, "mscclpp");
  REQUIRE_FALSE(trial.candidates.tryOut({}, {}).refused);
  CHECK_FALSE(trial.candidates.complete(0));
  CHECK(trial.candidates.tried()[0].refused);
}

} // namespace mscclc::passes::schedule
