// Whether outputs hold what the collective says.
#include "algorithms.h"
#include "prove.h"

using namespace plan;

TEST_CASE("an output that is never written") {
  Plan p(CollectiveKind::AllReduce, 2, 2, 2);
  CHECK(prove(p.program).says("rank 0: error: output[0] of rank 0 is never written"));
  p = Plan(CollectiveKind::AllReduce, 2, 2, 2, false, 1);
  p.on(0).copy(out(0), scratch(0));
  CHECK(prove(p.program).says("output[0] of rank 0 is never written, or from what was never written"));
}

TEST_CASE("an empty in-place all-reduce does not reduce") {
  CHECK(prove(Plan(CollectiveKind::AllReduce, 2, 2, 2, true).program)
            .says("output[0] of rank 0 ends without input[0] of rank 1"));
}

TEST_CASE("a wrong chunk, a doubled one, a missing one") {
  Plan wrong = allGather(3);
  wrong.program.ranks[1].blocks[0].chunks[2].index = 2; // destination
  CHECK_FALSE(prove(wrong.program).result.proven);

  Plan foreign(CollectiveKind::SendRecv, 1, 2, 2);
  foreign.on(0).copy(out(0), in(1)).copy(out(1), in(1));
  const Proof proof = prove(foreign.program);
  CHECK(proof.says(
      "rank 0, block 0, operation 0: error: output[0] of rank 0 ends with input[1] of rank 0 in it, which does "
      "not belong there"));
  CHECK(proof.says("note: last written here, by rank 0, block 0"));

  Plan twice = allReduce(2);
  auto &block = twice.program.ranks[0].blocks[0];
  Op &op = block.ops[3];
  const Chunks chunks{block.chunks[op.firstChunk], block.chunks[op.firstChunk + 1], block.chunks[op.firstChunk + 1],
                      block.chunks[op.firstChunk + 2], block.chunks[op.firstChunk + 3]};
  op.firstChunk = static_cast<std::uint32_t>(block.chunks.size());
  op.numSrcs = 3;
  block.chunks.insert(block.chunks.end(), chunks.begin(), chunks.end());
  CHECK(prove(twice.program).says("output[0] of rank 0 ends with input[0] of rank 1 in it twice"));

  Plan missing(CollectiveKind::AllReduce, 3, 3, 3, true);
  missing.on(0).reduce(in(0), {in(0), in(0)});
  CHECK_FALSE(prove(missing.program).result.proven);
}

TEST_CASE("reduce operations that are mixed") {
  Plan p(CollectiveKind::Custom, 1, 3, 2);
  p.program.collective.expectations = {{0, 0, {{0, 0}, {0, 1}, {0, 2}}, noLoc}, {0, 1, {{0, 0}, {0, 1}}, noLoc}};
  p.on(0).reduce(out(0), {in(0), in(1)}).nop().reduce(out(0), {out(0), in(2)}, ReduceOp::Max);
  p.on(0).reduce(out(1), {in(0), in(1)});
  CHECK(prove(p.program).says("output[0] of rank 0 ends as a mix of different reduce operations"));
  p.program.ranks[0].blocks[0].ops[0].reduceOp = ReduceOp::Max;
  CHECK(prove(p.program).says("output[1] of rank 0 is reduced with sum, other chunks with max"));
  p.program.ranks[0].blocks[0].ops[3].reduceOp = ReduceOp::Max;
  CHECK(prove(p.program).result.proven);
}

TEST_CASE("a product is no sum") {
  Plan p(CollectiveKind::Custom, 1, 3, 1);
  p.program.collective.expectations = {{0, 0, {{0, 0}, {0, 1}, {0, 2}}, noLoc}};
  p.on(0).reduce(out(0), {in(0), in(1)}, ReduceOp::Prod).nop().reduce(out(0), {out(0), in(2)});
  CHECK(prove(p.program).says("output[0] of rank 0 ends as a mix of different reduce operations"));
  p.program.ranks[0].blocks[0].ops[2].reduceOp = ReduceOp::Prod;
  CHECK(prove(p.program).result.proven);
}

TEST_CASE("a chunk taken twice is wrong for a sum or product, and makes no difference to min and max") {
  Plan p(CollectiveKind::Custom, 1, 2, 1);
  p.program.collective.expectations = {{0, 0, {{0, 0}, {0, 1}}, noLoc}};
  for (const ReduceOp op : {ReduceOp::Sum, ReduceOp::Min, ReduceOp::Max, ReduceOp::Prod}) {
    const bool once = op == ReduceOp::Sum || op == ReduceOp::Prod;
    Plan twice = p;
    twice.on(0).reduce(out(0), {in(0), in(1), in(1)}, op);
    CHECK(prove(twice.program).has("result_twice") == once);
    CHECK(prove(twice.program).result.proven != once);
    Plan behind = p; // the same in two steps
    behind.on(0).reduce(out(0), {in(0), in(1)}, op).nop().reduce(out(0), {out(0), in(1)}, op);
    CHECK(prove(behind.program).result.proven != once);
  }
}

TEST_CASE("slices of a group are right or wrong one by one") {
  Plan p(CollectiveKind::SendRecv, 1, 1, 1);
  for (std::uint32_t t = 0; t < 3; ++t)
    p.on(0, t).copy(out(0), in(0)).slice(t, 4);
  CHECK(prove(p.program).has("result_unwritten"));
  p.on(0, 3).copy(out(0), in(0)).slice(3, 4);
  CHECK(prove(p.program).result.proven);
}

TEST_CASE("every collective's definition") {
  const auto local = [](CollectiveKind kind, std::uint32_t chunks) { // one rank: input = output
    Plan p(kind, 1, chunks, chunks);
    for (std::uint32_t c = 0; c < chunks; ++c)
      p.on(0).copy(out(c), in(c));
    return p.program;
  };
  for (const auto kind : {CollectiveKind::AllGather, CollectiveKind::AllReduce, CollectiveKind::ReduceScatter,
                          CollectiveKind::AllToAll, CollectiveKind::SendRecv, CollectiveKind::Broadcast,
                          CollectiveKind::Reduce, CollectiveKind::Gather, CollectiveKind::Scatter})
    CHECK(prove(local(kind, 3)).result.proven);
}

TEST_CASE("a custom collective that states nothing, and one whose name is nearly a known one") {
  const auto make = [](const char *name, bool states) {
    Plan p(CollectiveKind::Custom, 1, 2, 2);
    p.program.collective.name = name;
    if (states)
      p.program.collective.expectations = {{0, 1, {{0, 1}}, noLoc}};
    p.on(0).copy(out(0), in(1)).copy(out(1), in(1));
    return prove(p.program);
  };
  for (const char *name : {"AllReduce", "all_reduce", "Send-Recv"}) {
    const Proof proof = make(name, false);
    CHECK(proof.result.proven);
    CHECK(proof.says("program 'by hand': warning: '" + std::string(name) +
                     "' is read as a custom collective that states no result: its 2 output chunks on 1 rank are not "
                     "compared with anything; write '" +
                     (name[0] == 'S' ? "sendrecv" : "allreduce") + "' if that is intended"));
  }
  CHECK_FALSE(make("AllReduce", true).has("outputs_not_compared"));
  CHECK_FALSE(make("allreduce2", false).has("outputs_not_compared"));
  CHECK(make("mine", false).result.summary().ends_with(" 0 output chunks right, nothing stated of 2"));
  CHECK(make("mine", true).result.summary().ends_with(" 1 output chunk right, nothing stated of 1 more"));
}
