// Instances of a program take as long as the one of them that is walked for all.
#include "timed.h"

#include "ir/movement.h"
#include "passes/pass_manager.h"

#include <array>
#include <cmath>
#include <random>

using namespace mscclc::passes::time;
using namespace mscclc;

namespace {

constexpr std::uint32_t ranks = 4, chunks = 4;

/// Random statements, each with a place of its own for what it yields, scheduled in `instances`.
ir::Program scheduled(std::mt19937 &random, std::uint32_t instances, bool twoNodes = false) {
  const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
  ir::Program program;
  program.name = "t";
  program.collective.name = "test";
  program.schedule = ir::Schedule::Auto;
  program.instances = instances;
  program.protocol = below(2) == 0 ? ir::Protocol::LL : ir::Protocol::Simple;
  program.ranks.resize(ranks);
  for (ir::Rank &rank : program.ranks)
    rank.inputChunks = rank.outputChunks = chunks;
  program.movement.ranksPerNode = twoNodes ? ranks / 2 : 0;
  program.movement.pull = below(2) == 0;
  program.movement.blocks = 1 + below(3);
  const auto input = [&] { return ir::RankChunk{below(ranks), ir::BufferKind::Input, below(chunks), 1}; };
  for (std::uint32_t i = 0; i < ranks * chunks; ++i) {
    const ir::RankChunk dst{i / chunks, ir::BufferKind::Output, i % chunks, 1};
    ir::RankChunk first = input(), second = input();
    if (twoNodes)
      second.rank = (dst.rank + ranks / 2) % ranks;
    const bool reduces = below(2) == 0 && !(first == second);
    if (reduces)
      program.movement.append({.kind = ir::MoveKind::Reduce}, std::array{first, second}, {&dst, 1});
    else
      program.movement.append({.kind = ir::MoveKind::Copy}, {&second, 1}, {&dst, 1});
  }
  passes::PassManager manager({}, passes::propertiesOf(program));
  REQUIRE(manager.add("place,cut,order,synchronise,fuse,lower-data-sync,infer-sync,replicate-instances") == "");
  ir::DiagnosticEngine diagnostics;
  const bool ok = manager.run(program, diagnostics).ok;
  INFO(diagnostics.render(false));
  REQUIRE(ok);
  return program;
}

TEST_CASE("one instance is walked for all") {
  std::mt19937 random(20);
  for (int round = 0; round < 60; ++round) {
    const std::uint32_t instances = 2u << random() % 3;
    const ir::Program program = scheduled(random, instances);
    REQUIRE(areLanes(program, instances));
    for (const bool mesh : {false, true})
      for (const std::uint64_t bytes : {4096, 1 << 20, 1 << 26}) {
        Machine machine = roundMachine();
        machine.mesh = mesh;
        const LaunchFigures all = launchFigures(program, machine, Runner::Kernel, bytes),
                            one = launchFigures(program, machine, Runner::Kernel, bytes, instances);
        INFO("round " << round << ", " << instances << " instances, " << bytes << " bytes");
        CHECK(std::abs(all.total - one.total) <= 1e-9 * all.total);
        CHECK(std::abs(all.linkBytes - one.linkBytes) <= 1e-9 * all.linkBytes);
      }
  }
}

TEST_CASE("what differs is walked by itself") {
  std::mt19937 random(7);
  ir::Program program = scheduled(random, 4);
  CHECK(areLanes(program, 4));
  CHECK(areLanes(program, 2)); // the first of each four, and the third
  CHECK(!areLanes(program, 0));
  CHECK(!areLanes(program, 3));
  program.ranks[2].blocks.back().chunks.back().size *= 2;
  CHECK(!areLanes(program, 4));
  CHECK(launchTime(program, roundMachine(), Runner::Kernel, 1 << 26) ==
        launchFigures(program, roundMachine(), Runner::Kernel, 1 << 26, 4).total);
  // A rank's proxy takes what its blocks ask for one after the other.
  CHECK(!areLanes(scheduled(random, 4, true), 4));
}

} // namespace
