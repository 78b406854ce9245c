// Tests launching again at once: what the next launch may overwrite.
#include "algorithms.h"
#include "prove.h"

using namespace plan;

TEST_CASE("a put before the peer has begun its launch") {
  Plan p = allGather(2);
  for (Rank &rank : p.program.ranks) // no handshake at the start
    rank.blocks[0].ops.erase(rank.blocks[0].ops.begin(), rank.blocks[0].ops.begin() + 3);
  const Proof proof = prove(p.program);
  CHECK(proof.says(
      "rank 0, block 0, operation 0: error: rank 0, block 0 may write output[0] of rank 1 before rank 1 begins "
      "its launch: that rank may still run the launch before, or its user may still use the buffer"));
  CHECK(proof.says(
      "no sync of this launch tells rank 0 that rank 1 has ended the one before: a relaxed signal from rank 1"));
  CHECK(proof.says("begins; its user has written output[0] of rank 1 only now"));
}

TEST_CASE("an input that a peer still reads when its rank ends") {
  Plan p = allGatherGet(2);
  for (Rank &rank : p.program.ranks)
    rank.blocks[0].ops.resize(5);
  const Proof proof = prove(p.program);
  CHECK(proof.says(
      "launched again, it races on input[0] of rank 0: rank 0 may end its launch, and its user overwrite it, "
      "while rank 1, block 0 still reads it"));
}

TEST_CASE("a scratch slot that the next launch writes while this one reads it") {
  Plan p(CollectiveKind::SendRecv, 2, 1, 1, false, 1);
  p.connectAll();
  for (std::uint32_t r = 0; r < 2; ++r) {
    Block b = p.on(r);
    b.remote(OpKind::Put, {b.of(1 - r, BufferKind::Scratch, 0)}, {in(0)}).nop().signal({0}).wait({0}).nop();
    b.copy(out(0), scratch(0));
  }
  const Proof proof = prove(p.program);
  CHECK(proof.says(
      "launched again, it races on scratch[0] of rank 1: the read ('copy') by rank 1, block 0 of one launch and "
      "the write ('put') by rank 0, block 0 of a later one are not ordered"));
  // Twice the scratch: launch n + 2 writes the slot of launch n, and the signals between say that this has ended.
  p.program.doubleScratch = true;
  CHECK(prove(p.program).result.proven);
}

TEST_CASE("packets order the launches by what they are computed from") {
  CHECK(prove(allReducePackets(4, false).program, {.fixedScratch = true}).result.proven);
  CHECK(prove(allReducePackets(4, true).program).result.proven);
  // One way only, nothing tells the sender that its packet was taken.
  Plan p(CollectiveKind::Custom, 2, 1, 1, false, 1);
  p.program.protocol = Protocol::LL;
  p.program.collective.expectations = {{1, 0, {{0, 0}}, noLoc}};
  Block a = p.on(0), b = p.on(1);
  a.remote(OpKind::PutPacket, {a.of(1, BufferKind::Scratch, 0)}, {in(0)});
  b.remote(OpKind::UnpackPacket, {out(0)}, {scratch(0)}, ChannelType::None);
  CHECK(prove(p.program).has("relaunch_race"));
  p.program.doubleScratch = true; // two launches ahead is still ahead
  CHECK(prove(p.program).has("relaunch_race"));
}

TEST_CASE("a packet slot written twice in a launch") {
  Plan p(CollectiveKind::Test, 1, 2, 2, false, 1);
  p.program.protocol = Protocol::LL;
  p.on(0).remote(OpKind::CopyPacket, {scratch(0)}, {in(0)}, ChannelType::None).nop();
  p.on(0).remote(OpKind::CopyPacket, {scratch(0)}, {in(1)}, ChannelType::None);
  const Proof proof = prove(p.program);
  CHECK(
      proof.says("rank 0, block 0, operation 2: error: packet scratch[0] of rank 0 is written twice in one launch: its "
                 "reader cannot tell which packets it sees"));
  CHECK(proof.says("rank 0, block 0, operation 0: note: the other access: write ('cpkt') by rank 0, block 0"));
}

TEST_CASE("a multicast may write its sender's slot again, with the packet that is there") {
  Plan p(CollectiveKind::AllGather, 3, 1, 3, true, 3);
  p.program.protocol = Protocol::LL;
  p.program.doubleScratch = true;
  p.switchChannel(BufferKind::Scratch);
  for (std::uint32_t r = 0; r < 3; ++r) {
    Block b = p.on(r);
    b.remote(OpKind::CopyPacket, {scratch(r)}, {out(r)}, ChannelType::None);
    b.remote(OpKind::SwitchBroadcastPacket, {onSwitch(0, r)}, {scratch(r)}, ChannelType::Switch, {0});
    for (std::uint32_t q = 0; q < 3; ++q)
      if (q != r)
        b.remote(OpKind::UnpackPacket, {out(q)}, {scratch(q)}, ChannelType::None);
  }
  CHECK(prove(p.program).result.proven);
}

TEST_CASE("iterations that share a slot of reused scratch") {
  Plan p = allReducePipeline(1 << 20);
  p.program.reuseResources = true;
  CHECK(prove(p.program).result.proven); // semaphores hand slots back
  CHECK(prove(p.program).result.iterations == 37);
  for (Rank &rank : p.program.ranks) // as many slots ahead as it likes
    rank.semaphores[1].initialValue = 40;
  const Proof proof = prove(p.program);
  CHECK(proof.has("race"));
  CHECK(proof.says("iterations share scratch slots where a chunk is larger than 33554432 bytes"));
  p.program.maxMessageSize = 64 << 20; // no chunk is larger than its scratch
  CHECK(prove(p.program).result.proven);
}

TEST_CASE("a loop that runs but once leans on nothing that a second iteration does") {
  const Program program = allReducePipeline(1024).program;
  CHECK(prove(program).result.proven);
  Program early = without(program, 0, 1, 5); // the nop before the signal that slots are free
  --early.ranks[0].blocks[1].ops[0].bodySize;
  CHECK(prove(early).has("relaunch_race")); // of the last iteration, where no later one tells
}
