// Whatever is chosen, its figures are those of its program; and choices are tried where they may help.
#include "alone.h"

#include "passes/schedule/choose.h"

#include <algorithm>
#include <string_view>

namespace mscclc::passes::schedule {
namespace {

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

Choice chosen(ir::Program &program, std::uint64_t bytes, std::string_view targetName = "none",
              time::Runner runner = time::Runner::Kernel) {
  const time::Machine machine = time::findMachine("h100x8");
  const Target target = *findTarget(targetName);
  return choose(program, {.machine = machine, .runner = runner, .messageBytes = bytes, .target = target});
}

} // namespace

TEST_CASE("what is said of candidates holds for their programs, and the best is taken") {
  const time::Machine machine = time::findMachine("h100x8");
  const Target target = *findTarget("none");
  for (const bool sums : {false, true})
    for (const std::uint32_t mostBlocks : {0u, 4u})
      for (const std::uint64_t bytes : {std::uint64_t{8} << 10, std::uint64_t{1} << 20, std::uint64_t{64} << 20}) {
        INFO((sums ? "sums, " : "") << mostBlocks << " blocks, " << bytes << " bytes");
        ir::Program program = allPairs(8, sums);
        program.movement.mostBlocks = mostBlocks;
        program.movement.order = sums ? ir::Order::Any : ir::Order::Written;
        ir::Program scheduled = program;
        const ChooseOptions options{
            .machine = machine, .runner = time::Runner::Kernel, .messageBytes = bytes, .target = target};
        const Choice choice = choose(scheduled, options);
        for (const Candidate &one : choice.tried)
          checkIsAlone(one, program, options);
        CHECK_FALSE(choice.done.empty()); // the program has been through the passes that candidates share
        CHECK(scheduled.movement.statements.empty());
        // The best by the figures in the end, as far as candidates were finished.
        const auto &among = choice.finished.empty() ? choice.tried : choice.finished;
        REQUIRE(bestOf(among));
        CHECK(bestOf(among)->choices == choice.choices);
        CHECK(scheduled.instances == choice.choices.instances);
        CHECK(scheduled.protocol == choice.choices.protocol);
      }
}

TEST_CASE("where the program is wanted as it is, only the choices are written into it") {
  const time::Machine machine = time::findMachine("h100x8");
  const Target target = *findTarget("none");
  ir::Program program = allPairs(8, true);
  const Choice choice =
      choose(program, {.machine = machine, .messageBytes = 1 << 20, .target = target, .keeps = false});
  CHECK(choice.done.empty());
  CHECK_FALSE(program.movement.statements.empty());
  CHECK(program.movement.blocks == choice.choices.blocks);
  CHECK(program.movement.pull == choice.choices.pull);
}

TEST_CASE("the search finds as many blocks as an executor's limits ask for") {
  for (const std::uint64_t bytes : {std::uint64_t{8} << 10, std::uint64_t{16} << 20}) {
    ir::Program program = allPairs(72, false);
    const Choice choice = chosen(program, bytes, "mscclpp");
    INFO(bytes << " bytes");
    REQUIRE_FALSE(choice.tried.empty());
    CHECK((choice.refused > 0) == (bytes == std::uint64_t{8} << 10)); // what is unpacked by one block
    for (const ir::Rank &rank : program.ranks)
      for (const ir::ThreadBlock &block : rank.blocks)
        CHECK(block.ops.size() <= executorLimits.front().opsPerBlock);
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
    for (const Candidate &one : chosen(given, std::uint64_t{1} << 30, "none", runner).tried) {
      INFO(one.choices.blocks << " blocks of " << held);
      CHECK(one.refused == (one.choices.blocks * one.choices.instances > held));
      most = std::max(most, one.choices.blocks);
    }
    CHECK(most == 7);
  }
}

TEST_CASE("where a statement asks for packets, packets are tried for a long message, and pipelines are not") {
  const auto tried = [](bool asks, auto &&matches) {
    ir::Program program = allPairs(4, true);
    if (asks)
      program.movement.statements.back().packets = true;
    const Choice choice = chosen(program, std::uint64_t{256} << 20);
    return std::ranges::any_of(choice.tried, [&](const Candidate &one) { return matches(one.choices); });
  };
  const auto isPipeline = [](const ScheduleChoices &choices) { return choices.step != 0; };
  const auto isPackets = [](const ScheduleChoices &choices) { return choices.protocol == ir::Protocol::LL; };
  CHECK(tried(false, isPipeline));
  CHECK_FALSE(tried(true, isPipeline));
  CHECK_FALSE(tried(false, isPackets));
  CHECK(tried(true, isPackets));
}

} // namespace mscclc::passes::schedule
