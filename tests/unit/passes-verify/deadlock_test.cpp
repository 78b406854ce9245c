// The four deadlocks that comparing totals of signals and waits accepts, and what else never ends.
#include "prove.h"

using namespace plan;

namespace {
Plan twoRanks(std::uint32_t channels) {
  Plan p(CollectiveKind::Test, 2, 1, 1);
  for (std::uint32_t c = 0; c < channels; ++c)
    p.connectAll();
  return p;
}
} // namespace

TEST_CASE("a signal on one channel, a wait on another") {
  Plan p = twoRanks(2);
  p.on(0).signal({0});
  p.on(1).wait({1});
  const Proof proof = prove(p.program);
  CHECK(proof.says("rank 0, block 0, operation 0: error: memory channel 0 of rank 0 (to rank 1) is signalled 1 time a "
                   "launch, but its other end, memory channel 0 of rank 1 (to rank 0), waits 0 times"));
  CHECK(proof.says("rank 1, block 0, operation 0: error: memory channel 1 of rank 1 (to rank 0) is waited on 1 time a "
                   "launch, but its other end, memory channel 1 of rank 0 (to rank 1), signals 0 times"));
}

TEST_CASE("both ranks wait first") {
  Plan p = twoRanks(1);
  for (std::uint32_t r = 0; r < 2; ++r)
    p.on(r).wait({0}).signal({0});
  const Proof proof = prove(p.program);
  CHECK(proof.has("deadlock"));
  CHECK(proof.says("deadlock: rank 0, block 0 waits for a signal from memory channel 0 of rank 1 (to rank 0)"));
  CHECK(proof.says("in a cycle of 2 blocks"));
  CHECK(proof.says("rank 0, block 0, operation 0: note: rank 0, block 0 waits here for"));
  CHECK(proof.says("rank 1, block 0, operation 1: note: rank 1, block 0 does that only here, after its own wait"));
}

TEST_CASE("a signal in a loop against a wait outside") {
  Plan p = twoRanks(1);
  p.on(0).pipeline(1024, 4, 1).signal({0});
  p.on(1).wait({0});
  CHECK(prove(p.program).says("is signalled in a loop, but its other end, memory channel 0 of rank 1 (to rank 0), "
                              "waits 1 time"));
  Plan thrice = twoRanks(1); // right for one message size only
  thrice.on(0).pipeline(1024, 1, 1).signal({0});
  thrice.on(1).wait({0}).wait({0}).wait({0});
  CHECK(prove(thrice.program).has("signal_without_wait"));
  CHECK(prove(thrice.program).says("rank 1, block 0, operation 0: note: waited on here"));
  Plan twice = twoRanks(1);
  twice.on(0).signal({0});
  twice.on(1).wait({0}).wait({0});
  CHECK(prove(twice.program).says("rank 0, block 0, operation 0: note: signalled here"));
}

TEST_CASE("one release, two acquires; and the reverse") {
  Plan p = twoRanks(0);
  p.semaphore(0, 1);
  p.on(0, 0).release({0});
  p.on(0, 1).acquire({0}).acquire({0});
  CHECK(prove(p.program).says(
      "rank 0, block 1, operation 0: error: semaphore 0 of rank 0 is acquired 2 times a launch, but "
      "released 1 time, starting at 1"));
  CHECK(prove(p.program).says("rank 0, block 0, operation 0: note: released here"));
  Plan q = twoRanks(0);
  q.semaphore(0);
  q.on(0, 0).release({0}).release({0});
  q.on(0, 1).acquire({0});
  CHECK(prove(q.program).says(
      "semaphore 0 of rank 0 is released 2 times a launch, but acquired 1 time: every launch adds"));
  CHECK(prove(q.program).says("rank 0, block 1, operation 0: note: acquired here"));
}

TEST_CASE("channels without another end") {
  Plan p(CollectiveKind::Test, 2, 1, 1);
  p.channel(0, 1);
  p.on(0).signal({0});
  CHECK(prove(p.program).says("error: signal on memory channel 0 of rank 0 (to rank 1), which has no other end: rank 1 "
                              "makes only 0 memory channels back"));
}

TEST_CASE("blocks that meet at barriers unequally often, or in another order") {
  Plan p(CollectiveKind::Test, 1, 1, 1);
  p.on(0, 0).barrier(0, 2).barrier(0, 2);
  p.on(0, 1).barrier(0, 2);
  CHECK(prove(p.program).says(
      "rank 0, block 0, operation 1: error: deadlock: rank 0, block 0 waits for the other blocks at "
      "its barrier, which never comes"));
  Plan q(CollectiveKind::Test, 1, 1, 1);
  q.on(0, 0).barrier(0, 2).barrier(1, 2);
  q.on(0, 1).barrier(1, 2).barrier(0, 2);
  CHECK(prove(q.program).has("deadlock"));
}

TEST_CASE("a packet that nobody writes") {
  Plan p(CollectiveKind::Test, 1, 1, 1, false, 1);
  p.program.protocol = Protocol::LL;
  p.on(0).remote(OpKind::UnpackPacket, {out(0)}, {scratch(0)}, ChannelType::None);
  CHECK(prove(p.program).says("rank 0, block 0, operation 0: error: deadlock: rank 0, block 0 waits for packet "
                              "scratch[0] of rank 0, which never"));
}

TEST_CASE("a cycle of semaphores and packets is told in full") {
  Plan p(CollectiveKind::Test, 1, 1, 1, false, 1);
  p.program.protocol = Protocol::LL;
  p.semaphore(0);
  p.on(0, 0).acquire({0}).nop().remote(OpKind::CopyPacket, {scratch(0)}, {in(0)}, ChannelType::None);
  p.on(0, 1).remote(OpKind::UnpackPacket, {out(0)}, {scratch(0)}, ChannelType::None).nop().release({0});
  const Proof proof = prove(p.program);
  CHECK(proof.says("waits for semaphore 0 of rank 0, in a cycle of 2 blocks"));
  CHECK(proof.says("rank 0, block 1 waits here for packet scratch[0] of rank 0"));
  CHECK(proof.says("rank 0, block 0, operation 2: note: rank 0, block 0 does that only here, after its own wait"));
}

TEST_CASE("uneven counts point at the other end too") {
  Plan p = twoRanks(1);
  p.on(0).signal({0});
  p.on(1).wait({0}).wait({0});
  CHECK(prove(p.program).says("rank 0, block 0, operation 0: note: signalled here"));
  Plan q = twoRanks(1);
  q.on(0).signal({0}).signal({0});
  q.on(1).wait({0});
  CHECK(prove(q.program).says("rank 1, block 0, operation 0: note: waited on here"));
}
