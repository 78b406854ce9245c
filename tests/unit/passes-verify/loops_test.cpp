// Tests pipelines whose first iterations are right and whose later ones are not, because credits from before the loop
// hide the fault.
#include "prove.h"

#include "passes/simulate/simulate.h"
#include "passes/verify/loops.h"

using namespace plan;

namespace {

constexpr std::uint64_t unit = 1024;

mscclc::passes::proof::LoopPairs pairsOf(const Plan &p) {
  return mscclc::passes::proof::pairLoops(mscclc::passes::proof::ProgramIndex(p.program));
}

/// Returns whether random schedules of one-chunk messages end with the right result, if pipelines run `iterations`
/// times.
bool runsAt(const Program &program, std::uint64_t iterations) {
  DiagnosticEngine diags;
  return mscclc::passes::simulate(program, diags, {.sizes = {iterations * unit}, .schedules = 40}).ok;
}

Program upTo(Program program, std::uint64_t iterations) {
  program.maxMessageSize = iterations * unit;
  return program;
}

/// A pipeline takes two credits an iteration, of which another gives one; a third makes up for it when the first has
/// ended. What is there before lasts for `credits` iterations.
Plan makesUpLater(std::uint32_t credits, bool bySemaphore) {
  Plan p(CollectiveKind::Test, bySemaphore ? 1 : 2, 1, 1);
  if (!bySemaphore)
    p.connectAll();
  const std::uint32_t rank = bySemaphore ? 0 : 1, full = bySemaphore ? p.semaphore(0, credits) : 0;
  Block taker = p.on(0, 0), giver = p.on(rank, bySemaphore ? 1 : 0);
  for (std::uint32_t i = 0; !bySemaphore && i < credits; ++i)
    giver.signal({0});
  if (bySemaphore) {
    const std::uint32_t done = p.semaphore(0);
    taker.pipeline(unit, 1, 2).acquire({full}).acquire({full});
    taker.release({done});
    giver.pipeline(unit, 1, 1).release({full}).acquire({done}).nop().pipeline(unit, 1, 1).release({full});
    return p;
  }
  taker.pipeline(unit, 1, 3).wait({0}).nop().wait({0}).nop().signal({0});
  giver.pipeline(unit, 1, 1).signal({0}).wait({0}).nop().pipeline(unit, 1, 1).signal({0});
  for (std::uint32_t i = 0; i < credits; ++i)
    taker.nop().wait({0});
  return p;
}

/// A block reads a chunk in a pipeline whose last `ahead` iterations wait for signals from after it was written, and
/// whose first ones wait for signals from the writer's own pipeline.
Plan readsAhead(std::uint32_t ahead) {
  Plan p(CollectiveKind::Test, 1, 1, 1, false, 1);
  const std::uint32_t s = p.semaphore(0);
  Block writer = p.on(0, 0), reader = p.on(0, 1);
  writer.pipeline(unit, 1, 1).release({s}).copy(scratch(0), in(0));
  for (std::uint32_t i = 0; i < ahead; ++i) {
    writer.nop().release({s});
    reader.acquire({s});
  }
  reader.pipeline(unit, 1, 3).acquire({s}).nop().copy(out(0), scratch(0));
  return p;
}

/// A rank takes all packets of a chunk before it gives the first credit for one of its slices; the sender starts with
/// `credits` of them.
Plan creditsForPackets(std::uint32_t credits) {
  Plan p(CollectiveKind::Test, 2, 1, 1, false, 1);
  p.program.protocol = Protocol::LL;
  p.program.doubleScratch = true;
  p.connectAll();
  Block sender = p.on(0), taker = p.on(1);
  for (std::uint32_t i = 0; i < credits; ++i)
    taker.signal({0});
  sender.pipeline(unit, 1, 3).wait({0}).nop();
  sender.remote(OpKind::PutPacket, {sender.of(1, BufferKind::Scratch, 0)}, {in(0)});
  taker.remote(OpKind::UnpackPacket, {out(0)}, {scratch(0)}, ChannelType::None).nop();
  taker.pipeline(unit, 1, 1).signal({0});
  for (std::uint32_t i = 0; i < credits; ++i)
    sender.nop().wait({0});
  return p;
}

} // namespace

TEST_CASE("credits that last for three iterations, and not for four") {
  const Plan p = makesUpLater(3, true);
  REQUIRE(pairsOf(p).unpaired);
  const Proof proof = prove(p.program);
  CHECK_FALSE(proof.result.proven);
  CHECK(proof.says("rank 0, block 1, operation 1: error: proven for at most 3 iterations of this pipeline, in messages "
                   "of up to 3072 bytes, as semaphore 0 of rank 0 is signalled 1 time for each 1024 bytes of 1 chunk "
                   "and waited on 2 times for each 1024 bytes of 1 chunk in the pipelines that meet there: let a "
                   "pipeline give in each iteration as often as its partner takes, from one thread block to one, or "
                   "set .maxMessageSize (max_message_size of a plan) to no more"));
  CHECK(runsAt(p.program, 3));
  CHECK_FALSE(runsAt(p.program, 4));
  const Proof limited = prove(upTo(p.program, 3));
  CHECK(limited.text.empty());
  CHECK(limited.result.proven);
  CHECK(limited.result.iterations == 3);
  CHECK(prove(upTo(p.program, 4)).has("more_iterations"));
  CHECK(prove(makesUpLater(2, true).program).has("deadlock")); // within what is run
}

TEST_CASE("signals before a loop that last for three iterations") {
  const Plan p = makesUpLater(3, false);
  CHECK(prove(p.program).has("more_iterations"));
  CHECK(prove(upTo(p.program, 3)).result.proven);
  CHECK(runsAt(p.program, 3));
  CHECK_FALSE(runsAt(p.program, 7));
}

TEST_CASE("a race that shows first where iterations are more than signals are apart") {
  for (const std::uint32_t ahead : {1u, 2u, 4u}) {
    const Plan p = readsAhead(ahead);
    CHECK(pairsOf(p).backward == ahead);
    CHECK(pairsOf(p).iterations() == 3 + 2 * std::uint64_t{ahead});
    CHECK(prove(p.program).has("race"));
    CHECK(prove(upTo(p.program, ahead)).result.proven);
    CHECK(prove(upTo(p.program, ahead)).result.iterations == ahead);
    CHECK(prove(upTo(p.program, ahead + 1)).has("race"));
  }
}

TEST_CASE("a deadlock that shows first where iterations are more than there are credits") {
  for (const std::uint32_t credits : {1u, 2u, 4u, 9u}) {
    const Plan p = creditsForPackets(credits);
    CHECK(pairsOf(p).forward == credits);
    CHECK(prove(p.program).has("deadlock"));
    CHECK(prove(upTo(p.program, credits)).result.proven);
    CHECK(runsAt(p.program, credits));
    CHECK_FALSE(runsAt(p.program, credits + 1));
  }
}

TEST_CASE("blocks that meet at a barrier once more before a loop are an iteration apart") {
  Plan p(CollectiveKind::Test, 1, 1, 1, false, 1);
  p.on(0, 0).barrier(0, 2).barrier(0, 2).barrier(0, 2).pipeline(unit, 1, 1).barrier(0, 2);
  p.on(0, 1).pipeline(unit, 1, 1).barrier(0, 2).barrier(0, 2).barrier(0, 2).barrier(0, 2);
  CHECK(pairsOf(p).backward == 3);
  CHECK(prove(p.program).result.iterations == 9);
  CHECK(prove(p.program).result.proven);
}

TEST_CASE("credits add up along a story, and not over blocks that have nothing to do with each other") {
  Plan p(CollectiveKind::Test, 2, 1, 1);
  for (std::uint32_t r = 0; r < 2; ++r) {
    const std::uint32_t a = p.semaphore(r, 2), b = p.semaphore(r, 3);
    p.on(r, 0).pipeline(unit, 1, 2).acquire({a}).release({b});
    p.on(r, 1).pipeline(unit, 1, 2).acquire({b}).release({a});
  }
  CHECK(pairsOf(p).forward == 5);
  p.connectAll();
  p.on(0, 0).signal({0});
  p.on(1, 0).wait({0});
  CHECK(pairsOf(p).forward == 10);
}

TEST_CASE("pipelines that have no queue in common may be as different as they like") {
  Plan p(CollectiveKind::Test, 1, 1, 2);
  const std::uint32_t s = p.semaphore(0);
  p.on(0, 0).pipeline(unit, 1, 1).copy(out(0), in(0)).release({s}).nop().release({s}).barrier(0, 2);
  p.on(0, 1).pipeline(4 * unit, 1, 1).copy(out(1), in(0)).acquire({s}).barrier(0, 2).acquire({s});
  p.on(0, 2).pipeline(8, 1, 1).copy(out(0), out(0));
  p.program.ranks[0].blocks.pop_back();
  CHECK_FALSE(pairsOf(p).unpaired);
  CHECK(prove(p.program).result.proven);
}

TEST_CASE("no pipeline is run longer than the longest message lets it") {
  Plan p = creditsForPackets(6);
  const std::uint32_t s = p.semaphore(0);
  p.on(0, 1).pipeline(4 * unit, 1, 1).release({s}).pipeline(4 * unit, 1, 1).release({s});
  p.on(0, 2).pipeline(4 * unit, 1, 2).acquire({s}).acquire({s});
  REQUIRE(pairsOf(p).unpaired); // so twelve units of the one are proven, but with six of the other there is an end
  CHECK(prove(upTo(p.program, 6)).result.proven);
  CHECK(prove(upTo(p.program, 7)).has("deadlock"));
}

TEST_CASE("what three iterations of shared counters do not show") {
  Plan p(CollectiveKind::Test, 1, 1, 1);
  const std::uint32_t s = p.semaphore(0);
  p.on(0, 0).pipeline(unit, 1, 1).release({s});
  p.on(0, 0).pipeline(unit, 1, 1).release({s});
  p.on(0, 1).pipeline(unit, 1, 1).acquire({s});
  p.on(0, 2).pipeline(unit, 1, 1).acquire({s});
  const Proof proof = prove(p.program);
  CHECK(proof.says("as semaphore 0 of rank 0 is waited on by thread blocks 1 and 2: "));
  CHECK(prove(upTo(p.program, 3)).result.proven);
  Plan far(CollectiveKind::Test, 1, 1, 1);
  const std::uint32_t many = far.semaphore(0, 100'000);
  far.on(0, 0).pipeline(unit, 1, 1).release({many}).pipeline(2 * unit, 1, 1).nop();
  far.on(0, 1).pipeline(unit, 1, 1).acquire({many});
  CHECK(prove(far.program).says("as semaphore 0 of rank 0 lets its pipelines be 100000 iterations apart"));
}
