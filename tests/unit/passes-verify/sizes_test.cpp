// Tests pipelines that one iteration proves, and pipelines that fail only with more iterations; those must not be
// proven.
#include "algorithms.h"
#include "prove.h"

using namespace plan;

namespace {

/// Refused, and not for want of a second iteration.
void breaksWithMore(const Plan &p, std::string_view id) {
  const Proof proof = prove(p.program);
  CAPTURE(proof.text);
  CHECK_FALSE(proof.result.anyIterations);
  CHECK(proof.has(id));
  CHECK_FALSE(proof.result.proven);
}

} // namespace

TEST_CASE("one iteration speaks for any number where nothing crosses iterations") {
  const Proof proof = prove(allReducePipeline(1024).program);
  CHECK(proof.result.proven);
  CHECK(proof.result.anyIterations);
  CHECK(proof.result.summary().starts_with("proven: 2 ranks, 2 launches, any number of iterations: 68 operations"));
  const Proof exhaustive = prove(allReducePipeline(1024).program, {.exhaustive = true});
  CHECK(exhaustive.result.proven);
  CHECK(exhaustive.result.iterations == 5);
}

TEST_CASE("a chunk that is read behind the first of several iterations") {
  Plan p(CollectiveKind::Test, 1, 1, 1, false, 1);
  const std::uint32_t s = p.semaphore(0);
  Block writer = p.on(0, 0), reader = p.on(0, 1);
  writer.pipeline(1024, 1, 3).copy(scratch(0), in(0)).nop().release({s});
  writer.release({s});
  reader.acquire({s}).nop().copy(out(0), scratch(0)).nop();
  reader.pipeline(1024, 1, 1).acquire({s});
  breaksWithMore(p, "race");
}

TEST_CASE("the same with barriers") {
  Plan p(CollectiveKind::Test, 1, 1, 1, false, 1);
  Block writer = p.on(0, 0), reader = p.on(0, 1);
  writer.pipeline(1024, 1, 2).copy(scratch(0), in(0)).barrier(0, 2);
  writer.barrier(0, 2);
  reader.barrier(0, 2).copy(out(0), scratch(0)).nop();
  reader.pipeline(1024, 1, 1).barrier(0, 2);
  breaksWithMore(p, "race");
}

TEST_CASE("two blocks that feed one counter, of which one may be an iteration ahead") {
  Plan p(CollectiveKind::Test, 1, 2, 2, false, 2);
  const std::uint32_t full = p.semaphore(0), free0 = p.semaphore(0, 2), free1 = p.semaphore(0, 2);
  for (std::uint32_t b = 0; b < 2; ++b) {
    Block writer = p.on(0, b);
    writer.pipeline(1024, 1, 5).acquire({b == 0 ? free0 : free1}).nop();
    writer.copy(scratch(b), in(b)).nop().release({full});
  }
  Block reader = p.on(0, 2);
  reader.pipeline(1024, 1, 8).acquire({full}).acquire({full}).nop();
  reader.copy(out(0), scratch(0)).copy(out(1), scratch(1)).nop().release({free0}).release({free1});
  breaksWithMore(p, "race");
}

TEST_CASE("an operand of more chunks than its pipeline runs over") {
  Plan p(CollectiveKind::Custom, 1, 2, 2);
  p.program.collective.expectations = {{0, 0, {{0, 0}}, noLoc}, {0, 1, {{0, 1}}, noLoc}};
  p.on(0).pipeline(1024, 1, 1).copy(out(0, 2), in(0, 2));
  breaksWithMore(p, "result_unwritten");
  Plan right = p;
  right.program.ranks[0].blocks[0].ops[0].count = 2;
  CHECK(prove(right.program).result.anyIterations);
  CHECK(prove(right.program).result.proven);
}

TEST_CASE("pipelines of different units") {
  Plan p(CollectiveKind::Test, 1, 1, 1, false, 1);
  const std::uint32_t s = p.semaphore(0);
  p.on(0, 0).pipeline(1024, 1, 3).copy(scratch(0), in(0)).nop().release({s});
  p.on(0, 1).pipeline(2048, 1, 3).acquire({s}).nop().copy(out(0), scratch(0));
  breaksWithMore(p, "release_without_acquire");
}

TEST_CASE("pipelines over different numbers of chunks") {
  Plan p(CollectiveKind::Test, 1, 2, 1, false, 1);
  const std::uint32_t s = p.semaphore(0);
  p.on(0, 0).pipeline(1024, 1, 3).copy(scratch(0), in(0)).nop().release({s});
  p.on(0, 1).pipeline(1024, 2, 2).acquire({s}).nop();
  breaksWithMore(p, "acquire_without_release");
}

TEST_CASE("slices of groups, which take fewer iterations than their pipeline has") {
  Plan p(CollectiveKind::Test, 1, 1, 1, false, 1);
  const std::uint32_t s0 = p.semaphore(0), s1 = p.semaphore(0);
  p.on(0, 0).pipeline(1024, 1, 3).copy(scratch(0), in(0)).nop().release({s0, s1});
  for (std::uint32_t t = 0; t < 2; ++t)
    p.on(0, 1 + t).pipeline(1024, 1, 3).acquire({t == 0 ? s0 : s1}).nop().copy(out(0), scratch(0)).slice(t, 2);
  breaksWithMore(p, "race");
}

TEST_CASE("packets of all iterations that are read at once") {
  Plan p(CollectiveKind::Test, 2, 1, 1, false, 1);
  p.program.protocol = Protocol::LL;
  p.program.doubleScratch = true;
  p.connectAll();
  Block writer = p.on(0), reader = p.on(1);
  writer.pipeline(1024, 1, 3);
  writer.remote(OpKind::PutPacket, {writer.of(1, BufferKind::Scratch, 0)}, {in(0)}).nop().wait({0});
  reader.remote(OpKind::UnpackPacket, {out(0)}, {scratch(0)}, ChannelType::None).nop();
  reader.pipeline(1024, 1, 1).signal({0});
  breaksWithMore(p, "deadlock");
}
