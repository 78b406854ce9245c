#include "algorithms.h"
#include "prove.h"

using namespace plan;

TEST_CASE("right programs are proven") {
  for (const Named &named : all()) {
    CAPTURE(named.name);
    const Proof proof = prove(named.make().program, {.fixedScratch = named.oneSize});
    CAPTURE(proof.text);
    CHECK(proof.result.proven);
    CHECK(proof.result.warnings == 0);
    CHECK(prove(named.make().program).has("size_change_race") == named.oneSize);
  }
}

TEST_CASE("what was proven is counted") {
  const Proof proof = prove(allGather(3).program);
  CHECK(proof.result.launches == 2);
  CHECK(proof.result.results == 9);
  CHECK(proof.result.operations == 2 * 3 * 7);
  CHECK(proof.result.edges == 2 * 2 * 6);
  CHECK(proof.result.summary() ==
        "proven: 3 ranks, 2 launches: 42 operations in 24 phases over 24 edges, 24 accesses in "
        "order, 9 output chunks right");
}

TEST_CASE("a slot that iterations share takes one more than their credits do") {
  CHECK(prove(allReduceOneSlot().program).result.iterations == 6);
}

TEST_CASE("a program without blocks is proven") {
  CHECK(prove(Plan(CollectiveKind::Test, 3, 1, 1).program).result.proven);
}

TEST_CASE("DataSync that is not lowered counts as nops") {
  Plan p(CollectiveKind::AllGather, 2, 1, 2, true);
  p.connectAll();
  for (std::uint32_t r = 0; r < 2; ++r) {
    Block b = p.on(r);
    auto &ops = p.program.ranks[r].blocks[0].ops;
    b.relaxedSignal({0}).relaxedWait({0});
    ops.back().sync = DataSync::After;
    b.remote(OpKind::Put, {b.of(1 - r, BufferKind::Output, r)}, {out(r)}).signal({0});
    ops.back().sync = DataSync::Before;
    b.wait({0});
  }
  CHECK(prove(p.program).result.proven);
  p.program.ranks[0].blocks[0].ops[3].sync = DataSync::None;
  CHECK_FALSE(prove(p.program).result.proven);
}
