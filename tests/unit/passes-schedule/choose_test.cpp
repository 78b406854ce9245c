// What candidates share while they are compared changes nothing of the choice.
#include "statements.h"

#include "passes/schedule/choose.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace mscclc::passes::schedule {
namespace {

const std::string placing = "place,order", dealing = "cut", scheduling = "share-scratch", synchronising = "synchronise",
                  tidying = "fuse,lower-data-sync,infer-sync", fitting = "replicate-instances,fit-executor";

/// All ranks give to all; with `sums`, an all-reduce by shares.
ir::Program allPairs(std::uint32_t ranks, bool sums) {
  Statements statements(sums ? ir::CollectiveKind::AllReduce : ir::CollectiveKind::AllGather, ranks, ranks, ranks,
                        true);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const RankChunks all = outOfAll(rank, ranks);
    if (sums)
      statements.reduce({all.front()}, all);
    statements.copy({all.begin() + 1, all.end()}, all.front());
  }
  ir::Movement &movement = statements.program.movement;
  movement.chooseInstances = movement.chooseProtocol = true;
  return std::move(statements.program);
}

/// Of `program`, with the beginning of the passes shared or each candidate on its own.
Choice chosen(ir::Program &program, std::uint64_t bytes, bool sharing, std::string_view targetName = "none",
              time::Runner runner = time::Runner::Kernel) {
  const time::Machine machine = time::findMachine("h100x8");
  const Target target = *findTarget(targetName);
  const std::string all =
      placing + "," + dealing + "," + scheduling + "," + synchronising + "," + tidying + "," + fitting;
  Goal goal{machine, runner, bytes, target, "", "", "", "", "", "", all};
  if (sharing) {
    goal.placing = placing;
    goal.dealing = dealing;
    goal.scheduling = scheduling;
    goal.synchronising = synchronising;
    goal.tidying = tidying;
    goal.rest = fitting;
  }
  return choose(program, goal);
}

} // namespace

TEST_CASE("candidates that share passes come out as they do alone") {
  for (const bool sums : {false, true})
    for (const std::uint32_t mostBlocks : {0u, 4u})
      for (const std::uint64_t bytes : {std::uint64_t{8} << 10, std::uint64_t{1} << 20, std::uint64_t{64} << 20}) {
        INFO((sums ? "sums, " : "") << mostBlocks << " blocks, " << bytes << " bytes");
        ir::Program program = allPairs(8, sums);
        program.movement.mostBlocks = mostBlocks;
        program.movement.reassociate = sums;
        ir::Program scheduled = program;
        const Choice together = chosen(scheduled, bytes, true), alone = chosen(program, bytes, false);
        CHECK(together.open == alone.open);
        CHECK_FALSE(together.done.empty()); // the program has been through the passes that candidates share
        CHECK(scheduled.movement.statements.empty());
        CHECK(alone.done.empty());
        CHECK_FALSE(program.movement.statements.empty());
        CHECK(together.candidates > together.refused);
        REQUIRE(together.tried.size() == alone.tried.size());
        for (std::size_t i = 0; i < alone.tried.size(); ++i) {
          INFO("candidate " << i);
          const Candidate &one = together.tried[i], &other = alone.tried[i];
          CHECK(one.open == other.open);
          CHECK(one.refused == other.refused);
          CHECK(one.nanoseconds == other.nanoseconds);
          CHECK(one.linkBytes == other.linkBytes);
          CHECK(one.syncs == other.syncs);
          CHECK(one.threadBlocks == other.threadBlocks);
        }
      }
}

TEST_CASE("candidates that are refused before they are scheduled are those that are refused after it") {
  for (const std::uint64_t bytes : {std::uint64_t{8} << 10, std::uint64_t{16} << 20}) {
    ir::Program program = allPairs(72, false), scheduled = program;
    const Choice together = chosen(scheduled, bytes, true, "mscclpp"), alone = chosen(program, bytes, false, "mscclpp");
    CHECK(together.open == alone.open);
    REQUIRE(together.tried.size() == alone.tried.size());
    for (std::size_t i = 0; i < alone.tried.size(); ++i) {
      INFO(bytes << " bytes, candidate " << i);
      CHECK(together.tried[i].open == alone.tried[i].open);
      CHECK(together.tried[i].refused == alone.tried[i].refused);
    }
    CHECK((together.refused > 0) == (bytes == std::uint64_t{8} << 10)); // what is unpacked by one block
  }
}

TEST_CASE("a candidate that a GPU cannot hold is refused, however many blocks the program allows") {
  ir::Program program = allPairs(8, false);
  program.movement.chooseInstances = program.movement.chooseProtocol = false;
  program.movement.mostBlocks = 1000;
  program.instances = 64;
  // One or two on each of 132 multiprocessors.
  for (const auto &[runner, held] : {std::pair{time::Runner::Executor, 132u}, {time::Runner::Kernel, 264u}}) {
    std::uint32_t most = 0;
    ir::Program given = program;
    for (const Candidate &one : chosen(given, std::uint64_t{1} << 30, true, "none", runner).tried) {
      INFO(one.open.blocks << " blocks of " << held);
      CHECK(one.refused == (one.open.blocks * one.open.instances > held));
      most = std::max(most, one.open.blocks);
    }
    CHECK(most == 7);
  }
}

TEST_CASE("where a statement asks for packets, packets are tried for a long message, and pipelines are not") {
  const auto tried = [](bool asks, auto &&matches) {
    ir::Program program = allPairs(4, true);
    if (asks)
      program.movement.statements.back().packets = true;
    const Choice choice = chosen(program, std::uint64_t{256} << 20, true);
    return std::ranges::any_of(choice.tried, [&](const Candidate &one) { return matches(one.open); });
  };
  const auto isPipeline = [](const Open &open) { return open.step != 0; };
  const auto isPackets = [](const Open &open) { return open.protocol == ir::Protocol::LL; };
  CHECK(tried(false, isPipeline));
  CHECK_FALSE(tried(true, isPipeline));
  CHECK_FALSE(tried(false, isPackets));
  CHECK(tried(true, isPackets));
}

} // namespace mscclc::passes::schedule
