// Whatever is chosen, its figures are those of its program; and choices are tried where they may help.
#include "alone.h"

#include "ir/diagnostics.h"
#include "passes/schedule/choose.h"
#include "passes/time/unmeasured.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

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

/// A candidate with a number of instances as its name, whose time rests on some of three parameters.
Candidate named(std::uint32_t instances, double nanoseconds, unsigned restsOn = 0) {
  return {.choices = {.instances = instances}, .nanoseconds = nanoseconds, .restsOn = time::ParameterSet(restsOn)};
}

} // namespace

TEST_CASE("a time that rests on measurements is preferred to one that is up to 15 % shorter") {
  using Candidates = std::vector<Candidate>;
  const auto best = [](const Candidates &among) { return bestOf(among)->choices.instances; };
  CHECK(best({named(1, 100, 0b1), named(2, 114), named(3, 110, 0b1)}) == 2);
  CHECK(best({named(1, 100, 0b1), named(2, 116)}) == 1); // too slow
  CHECK(best({named(1, 100), named(2, 99, 0b1)}) == 1);  // among equal ones, too
  CHECK(best({named(1, 100), named(2, 103, 0b1)}) == 1); // the fastest rests on measurements
  CHECK(best({named(1, 100, 0b1), named(2, 90)}) == 2);
  // What both rest on is no reason, and neither is another parameter.
  CHECK(best({named(1, 100, 0b11), named(2, 105, 0b11)}) == 1);
  CHECK(best({named(1, 100, 0b11), named(2, 105, 0b110)}) == 1);
  CHECK(best({named(1, 100, 0b11), named(2, 105, 0b10), named(3, 114)}) == 3);
  CHECK(best({named(1, 100, 0b11), named(2, 105, 0b10), named(3, 116)}) == 2);
  // Those that rest on measurements are compared as usual; and what was not asked for is no reason.
  CHECK(best({named(1, 100, 0b1), named(2, 112), named(3, 105)}) == 3);
  Candidate refused = named(2, 105), unknown = named(3, 105);
  refused.refused = true;
  unknown.restsOn.reset();
  CHECK(best({named(1, 100, 0b1), refused}) == 1);
  CHECK(best({unknown, named(1, 107)}) == 3);

  const Candidates among{named(1, 100, 0b1), named(2, 114), named(3, 112, 0b1), named(4, 116), named(5, 114)};
  CHECK(takenFor(among, among[1], among[0]) == TakenFor::Measurements);
  CHECK(takenFor(among, among[1], among[2]) == TakenFor::Measurements);
  CHECK(takenFor(among, among[1], among[3]) == TakenFor::Time);
  CHECK(takenFor(among, among[1], among[4]) == TakenFor::Order);
  // What is worth trying: with a measurement behind it, a new one has to be faster.
  CHECK(mostTime(among) == 114);
  CHECK(mostTime(Candidates{among[0]}) == time::hedge * 100);
  CHECK(mostTime({}) == std::numeric_limits<double>::infinity());
}

TEST_CASE("another schedule is chosen only if it rests on fewer parameters without a measurement", "[slow]") {
  time::Machine machine = time::findMachine("h100x8");
  const Target target = *findTarget("none");
  const auto chosenWithout = [&](std::string_view key, std::uint64_t bytes) {
    for (std::size_t i = 0; i < machine.unmeasured.size(); ++i)
      machine.unmeasured[i] = time::parameterFields[i].key == key;
    ir::Program program = allPairs(8, true);
    program.movement.order = ir::Order::Any;
    return choose(program,
                  {.machine = machine, .runner = time::Runner::Kernel, .messageBytes = bytes, .target = target});
  };
  int others = 0, resting = 0;
  for (const std::uint64_t bytes : {std::uint64_t{8} << 10, std::uint64_t{1} << 20, std::uint64_t{64} << 20}) {
    const Choice measured = chosenWithout("", bytes);
    for (const std::string_view key : {"packet", "multimem", "block_multimem", "fence", "load_remote", "store"}) {
      INFO(bytes << " bytes, " << key);
      const Choice choice = chosenWithout(key, bytes);
      const Candidate &taken = *choice.taken();
      if (taken.restsOn && taken.restsOn->any())
        ++resting;
      if (choice.choices == measured.choices)
        continue;
      ++others;
      const auto before = std::ranges::find(choice.tried, measured.choices, &Candidate::choices);
      REQUIRE(before != choice.tried.end());
      CHECK(taken.restsOn.value().none());
      CHECK(ir::enumerate(time::keysOf(before->restsOn.value())) == key);
      CHECK(taken.nanoseconds <= 1.2 * before->nanoseconds); // what passes after the comparison do may add to 15 %
    }
  }
  CHECK(others > 0);
  CHECK(resting > 0);
}

TEST_CASE("what is said of candidates holds for their programs, and the best is taken", "[slow]") {
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
