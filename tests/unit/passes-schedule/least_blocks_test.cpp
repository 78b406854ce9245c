// Tests the lower bound on the operations and blocks of a program. It is known before scheduling, and must never be
// more than the result has.
#include "statements.h"

#include "passes/pass_manager.h"
#include "passes/schedule/least_blocks.h"

#include <algorithm>
#include <string_view>

namespace mscclc::passes::schedule {
namespace {

void run(ir::Program &program, std::string_view passes) {
  PassManagerOptions options;
  options.target = *findTarget("none");
  PassManager manager(std::move(options), propertiesOf(program));
  REQUIRE(manager.add(passes).empty());
  ir::DiagnosticEngine diags;
  REQUIRE(manager.run(program, diags).ok);
}

/// An all-reduce in which each rank sums its share, and gives it to all; or its shares, one by one.
ir::Program allReduce(std::uint32_t ranks, bool oneByOne) {
  Statements statements(ir::CollectiveKind::AllReduce, ranks, ranks, ranks, true);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const RankChunks all = outOfAll(rank, ranks), others(all.begin() + 1, all.end());
    if (oneByOne)
      for (const ir::RankChunk &other : others)
        statements.reduce({all.front()}, {all.front(), other});
    else
      statements.reduce({all.front()}, all);
    statements.copy(others, all.front());
  }
  return std::move(statements.program);
}

/// An all-gather that passes each share on, from rank to rank, in place.
ir::Program ring(std::uint32_t ranks) {
  Statements statements(ir::CollectiveKind::AllGather, ranks, 1, ranks, true);
  for (std::uint32_t step = 0; step + 1 < ranks; ++step)
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const std::uint32_t share = (rank + ranks - step) % ranks;
      statements.copy({out((rank + 1) % ranks, share)}, out(rank, share));
    }
  return std::move(statements.program);
}

std::uint64_t mostOperations(const ir::Program &program) {
  std::uint64_t most = 0;
  for (const ir::Rank &rank : program.ranks)
    for (const ir::ThreadBlock &block : rank.blocks)
      most = std::max<std::uint64_t>(most, block.ops.size());
  return most;
}

} // namespace

TEST_CASE("what dependences show to be waited for and told counts") {
  ir::Program program = ring(5);
  run(program, "place,order,cut");
  Analyses analyses;
  const LeastBlocks least = leastBlocks(program, analyses);
  // Four puts; before all but the first, a wait, and after all but the last, a signal, each with a sync of all threads.
  CHECK(least.operations == 4 + 3 * 2 + 3 * 2);
  run(program, "share-scratch,synchronise,fuse,lower-data-sync,infer-sync,drop-redundant-sync,fuse,split-waits");
  // Besides, it is told that launches begin, and that they end: a signal, a wait and a sync each.
  CHECK(mostOperations(program) == least.operations + 6);
}

TEST_CASE("packets that are unpacked, and sums of different places, stay alone") {
  ir::Program program = allReduce(4, false);
  program.protocol = ir::Protocol::LL;
  run(program, "place,order,cut");
  // Three puts, one sum, three puts of it, and three times unpacking.
  Analyses analyses;
  const LeastBlocks least = leastBlocks(program, analyses);
  CHECK(least.operations == 5);
  CHECK(least.blocks == 1);
}

TEST_CASE("there are as many blocks and operations as is said, or more") {
  for (const bool oneByOne : {false, true})
    for (const bool pull : {false, true})
      for (const ir::Protocol protocol : {ir::Protocol::Simple, ir::Protocol::LL})
        for (const std::uint32_t blocks : {1u, 2u, 7u}) {
          INFO(oneByOne << pull << (protocol == ir::Protocol::LL) << ' ' << blocks);
          ir::Program program = allReduce(8, oneByOne);
          program.protocol = protocol;
          program.movement.pull = pull;
          program.movement.blocks = blocks;
          run(program, "place,order,cut");
          Analyses analyses;
          const LeastBlocks least = leastBlocks(program, analyses);
          CHECK(least.operations > 0);
          run(program, "share-scratch,synchronise,fuse,lower-data-sync,fuse");
          std::uint64_t mostBlocks = 0;
          for (const ir::Rank &rank : program.ranks)
            mostBlocks = std::max(mostBlocks, rank.busyBlocks());
          CHECK(least.operations <= mostOperations(program));
          CHECK(least.blocks <= mostBlocks);
        }
}

} // namespace mscclc::passes::schedule
