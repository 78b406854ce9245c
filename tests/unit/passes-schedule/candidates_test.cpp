// Where all ranks do the same, a candidate is rank 0 alone; what is told of it is what holds for all ranks.
#include "statements.h"

#include "ir/text.h"
#include "passes/schedule/candidates.h"
#include "passes/time/estimate.h"

#include <string>

namespace mscclc::passes::schedule {
namespace {

constexpr std::uint64_t messageBytes = std::uint64_t{1} << 20;

/// What a program is tried for; refers to itself.
struct Trial {
  explicit Trial(ir::Program given, std::string_view targetName = "none", bool shares = true)
      : program(std::move(given)), target(*findTarget(targetName)) {
    if (!shares) { // one list: then all ranks are scheduled
      goal.rest = all;
      goal.placing = goal.dealing = goal.scheduling = goal.synchronising = goal.tidying = "";
    }
  }

  static constexpr std::string_view all = "place,order,cut,share-scratch,synchronise,fuse,lower-data-sync,infer-sync,"
                                          "replicate-instances,fit-executor,check-executor";
  ir::Program program;
  time::Machine machine = time::findMachine("h100x8");
  Target target;
  Goal goal{machine,
            time::Runner::Executor,
            messageBytes,
            target,
            "place,order",
            "cut",
            "share-scratch",
            "synchronise",
            "fuse,lower-data-sync,infer-sync",
            "",
            "replicate-instances,fit-executor,check-executor"};
  Candidates candidates{program, goal};
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

/// An all-reduce around the ring: operands go through scratch, or are read.
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

TEST_CASE("what rank 0 takes is what all ranks take that do the same") {
  std::uint32_t ofOneRank = 0;
  for (const auto make : {allGather, ring, doubling})
    for (const std::uint32_t perNode : {0u, 4u})
      for (const ir::Protocol protocol : {ir::Protocol::Simple, ir::Protocol::LL})
        for (const bool pull : {false, true})
          for (const std::uint32_t instances : {1u, 2u}) {
            const ir::Program program = make(8, perNode);
            for (const std::uint32_t blocks : {1u, 4u}) {
              INFO(program.movement.statements.size()
                   << " statements, " << perNode << " ranks a node, " << toString(protocol) << ", pull " << pull << ", "
                   << instances << " instances, " << blocks << " blocks");
              const Open open{.protocol = protocol, .instances = instances, .pull = pull, .blocks = blocks};
              Trial one(program), whole(program, "none", false);
              const Candidate &mine = one.candidates.tryOut(open, false);
              const Candidate &theirs = whole.candidates.tryOut(open, false);
              CHECK(mine.refused == theirs.refused);
              CHECK(mine.nanoseconds == theirs.nanoseconds);
              CHECK(mine.linkBytes == theirs.linkBytes);
              CHECK(mine.syncs == theirs.syncs);
              CHECK(mine.threadBlocks == theirs.threadBlocks);
              const Stage &stage = one.candidates.stageOf(0);
              REQUIRE((stage.scheduled && stage.scheduled->isScheduled()));
              if (!stage.scheduled->passed.one)
                continue;
              ++ofOneRank;
              REQUIRE(one.candidates.complete(0));
              const ir::Program &completed = one.candidates.stageOf(0).scheduled->passed.program;
              CHECK(completed.ranks[1].blocks.size() == completed.ranks[0].blocks.size());
            }
          }
  CHECK(ofOneRank > 60); // of 96
}

TEST_CASE("candidates share what parts make that read nothing in which they differ") {
  const ir::Program program = ring(8, 0);
  Trial trial(program);
  const Open first{.blocks = 2};
  Open instances = first, blocks = first, pull = first, packets = first;
  instances.instances = 2;
  blocks.blocks = 4;
  pull.pull = true;
  packets.protocol = ir::Protocol::LL;
  for (const Open &open : {first, instances, blocks, pull, packets})
    REQUIRE_FALSE(trial.candidates.tryOut(open, false).refused);
  const auto stage = [&](std::size_t candidate) { return trial.candidates.stageOf(candidate); };
  CHECK(stage(1).scheduled == stage(0).scheduled);
  CHECK(stage(2).placed == stage(0).placed);
  CHECK(stage(2).scheduled != stage(0).scheduled);
  CHECK(stage(3).placed != stage(0).placed); // its reductions read what the others are given
  CHECK(stage(4).placed != stage(0).placed);
}

TEST_CASE("a completed candidate is the program that its passes make") {
  for (const ir::Program &program : {ring(6, 0), allGather(8, 4), doubling(8, 4)})
    for (const ir::Protocol protocol : {ir::Protocol::Simple, ir::Protocol::LL}) {
      INFO(textOf(program) << toString(protocol));
      const Open open{.protocol = protocol, .blocks = 2};
      Trial trial(program);
      REQUIRE_FALSE(trial.candidates.tryOut(open, false).refused);
      REQUIRE(trial.candidates.stageOf(0).scheduled->passed.one);
      REQUIRE(trial.candidates.complete(0));

      ir::Program alone = program;
      apply(open, alone);
      PassManagerOptions options;
      options.target = trial.target;
      PassManager manager(std::move(options), propertiesOf(alone));
      REQUIRE(manager.add("place,order,cut,share-scratch,synchronise,fuse,lower-data-sync,infer-sync").empty());
      ir::DiagnosticEngine diags;
      REQUIRE(manager.run(alone, diags).ok);
      CHECK(textOf(trial.candidates.stageOf(0).scheduled->passed.program) == textOf(alone));
    }
}

TEST_CASE("a candidate that is the only one is that of all ranks, unless it is likely refused") {
  Trial trial(allGather(8, 0), "mscclpp");
  CHECK_FALSE(trial.candidates.tryOut({}, true).refused);
  CHECK_FALSE(trial.candidates.stageOf(0).scheduled->passed.one);
  Trial likely(ring(16, 0), "mscclpp"); // one block sums and passes on 15 shares
  likely.candidates.tryOut({.blocks = 4}, true);
  const Stage &stage = likely.candidates.stageOf(0);
  REQUIRE(stage.scheduled);
  CHECK((stage.scheduled->passed.isRefused || stage.scheduled->passed.one));
}

TEST_CASE("a candidate is refused when it is completed if another rank passes a limit") {
  ir::Program program = allGather(4, 0);
  program.maxMessageSize = std::uint64_t{12}
                           << 30; // the last rank's share is farther than the executor's offsets reach
  Trial trial(program, "mscclpp");
  REQUIRE_FALSE(trial.candidates.tryOut({}, false).refused);
  REQUIRE(trial.candidates.stageOf(0).scheduled->passed.one);
  CHECK_FALSE(trial.candidates.complete(0));
  CHECK(trial.candidates.tried()[0].refused);
}

} // namespace mscclc::passes::schedule
