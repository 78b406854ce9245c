// What candidates share while they are compared changes nothing of the choice.
#include "statements.h"

#include "passes/schedule/choose.h"

#include <string>

namespace mscclc::passes::schedule {
namespace {

const std::string shared = "place,cut,order,share-scratch,synchronise,fuse,lower-data-sync,infer-sync";

/// All ranks give to all; with `sums`, an all-reduce by shares.
ir::Program allPairs(std::uint32_t ranks, bool sums) {
  Statements statements(sums ? ir::CollectiveKind::AllReduce : ir::CollectiveKind::AllGather, ranks, ranks, ranks,
                        true);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    RankChunks all, others;
    for (std::uint32_t step = 0; step < ranks; ++step) {
      all.push_back(out((rank + step) % ranks, rank));
      if (step != 0)
        others.push_back(all.back());
    }
    if (sums)
      statements.reduce({all.front()}, all);
    statements.copy(others, all.front());
  }
  ir::Movement &movement = statements.program.movement;
  movement.chooseInstances = movement.chooseProtocol = true;
  return std::move(statements.program);
}

/// Of `program`, with the beginning of the passes shared or each candidate on its own.
Choice chosen(ir::Program program, std::uint64_t bytes, bool sharing) {
  const time::Machine machine = time::findMachine("h100x8");
  const Target target = *findTarget("none");
  const std::string passes = shared + ",replicate-instances";
  return choose(program, {.machine = machine,
                          .runner = time::Runner::Kernel,
                          .messageBytes = bytes,
                          .target = target,
                          .passes = passes,
                          .shared = sharing ? shared : std::string_view()});
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
        const Choice together = chosen(program, bytes, true), alone = chosen(program, bytes, false);
        CHECK(together.open == alone.open);
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

} // namespace mscclc::passes::schedule
