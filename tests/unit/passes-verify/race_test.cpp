// Tests accesses without an order: each kind with its hint and its schedule.
#include "algorithms.h"
#include "prove.h"

using namespace plan;

TEST_CASE("a wait orders only the phases behind it") {
  Plan p(CollectiveKind::AllGather, 2, 1, 2);
  p.connectAll();
  for (std::uint32_t r = 0; r < 2; ++r) {
    Block b = p.on(r);
    b.relaxedSignal({0}).relaxedWait({0}).nop().remote(OpKind::Put, {b.of(1 - r, BufferKind::Output, r)}, {in(0)});
    b.nop().signal({0}).wait({0}).copy(out(r), in(0)).copy(in(0), out(1 - r));
  }
  const Proof proof = prove(p.program);
  CHECK(
      proof.says("race on output[1] of rank 0: the write ('put') by rank 1, block 0 and the read ('copy') by rank 0"));
  CHECK(proof.says("the wait is in the same phase as the access after it: a nop between them would order them"));
}

TEST_CASE("a signal carries only the phases before it") {
  const Proof proof = prove(without(allGather(3).program, 1, 0, 4));
  CHECK(proof.has("output_not_final"));
  CHECK(proof.says(
      "rank 1, block 0, operation 3: error: rank 0 may end its launch before output[1] of rank 0 is written by "
      "rank 1, block 0"));
  CHECK(proof.says("a signal follows the write in the same phase: a nop between them would order them"));
}

TEST_CASE("accesses of one phase race, with the schedule") {
  Plan p(CollectiveKind::Test, 1, 2, 3);
  p.on(0).copy(out(0, 2), in(0, 2)).copy(out(2), out(1)); // which another thread writes
  const Proof proof = prove(p.program);
  CHECK(proof.says(
      "rank 0, block 0, operation 1: error: race on output[1] of rank 0: the write ('copy') by rank 0, block 0 "
      "and the read ('copy') by rank 0, block 0 are not ordered"));
  CHECK(proof.says("rank 0, block 0, operation 0: note: the other access: write ('copy') by rank 0, block 0"));
  CHECK(proof.says("threads of a block do not wait for each other: a nop between the two operations would order them"));
  CHECK(proof.says("note: schedule 1: rank 0, block 0 reads output[1] of rank 0 ('copy')"));
  CHECK(proof.says("note: schedule 2: rank 0, block 0 writes output[1] of rank 0 ('copy') only now"));
}

TEST_CASE("threads of one operation at different elements") {
  Plan p(CollectiveKind::Test, 1, 3, 1);
  p.on(0).copy(in(0, 2), in(1, 2));
  CHECK(prove(p.program).says(
      "race on input[1] of rank 0: threads of one operation read and write it at different elements"));
  Plan same(CollectiveKind::Test, 1, 3, 1);
  same.on(0).reduce(in(0, 2), {in(0, 2), in(0, 2)});
  CHECK(prove(same.program).result.proven);
}

TEST_CASE("two blocks of a rank") {
  Plan p(CollectiveKind::Test, 1, 1, 1);
  p.on(0, 0).copy(out(0), in(0));
  p.on(0, 1).copy(out(0), in(0));
  CHECK(prove(p.program).says("no sync orders the two blocks: a barrier of blocks 0 and 1, or a semaphore"));
}

TEST_CASE("a read that no signal precedes") {
  Plan p(CollectiveKind::Test, 2, 1, 2);
  p.channel(0, 1);
  p.channel(1, 0);
  p.on(0).copy(out(0), in(0));
  Block b = p.on(1);
  b.remote(OpKind::Get, {out(1)}, {b.of(0, BufferKind::Output, 0)}, ChannelType::Memory, {0});
  CHECK(prove(p.program).says(
      "no sync orders them: a signal from rank 0 after the first (a nop between) and a wait for it "
      "on rank 1 (a nop after it) before the second would"));
}

TEST_CASE("a relaxed signal orders, but makes nothing visible") {
  Plan p(CollectiveKind::Test, 2, 1, 2);
  p.channel(0, 1);
  p.channel(1, 0);
  p.on(0).copy(out(0), in(0)).nop().relaxedSignal({0}).relaxedWait({0});
  Block b = p.on(1);
  b.relaxedWait({0}).nop().remote(OpKind::Get, {out(1)}, {b.of(0, BufferKind::Output, 0)}, ChannelType::Memory, {0});
  b.nop().relaxedSignal({0});
  const Proof proof = prove(p.program);
  CHECK(proof.says("race on output[0] of rank 0"));
  CHECK(proof.says("only a relaxed signal (or a packet) orders them, which makes no data visible"));
  for (Op &op : p.program.ranks[0].blocks[0].ops)
    if (op.kind == OpKind::RelaxedSignal)
      op.kind = OpKind::Signal;
  CHECK_FALSE(prove(p.program).result.proven); // both ends
  p.program.ranks[1].blocks[0].ops[0].kind = OpKind::Wait;
  CHECK(prove(p.program).result.proven); // and reading before writing needs no more than relaxed
}

TEST_CASE("what a port still reads, and what it has not yet written") {
  const auto send = [](bool flush, bool signalBehind) {
    Plan p(CollectiveKind::Test, 2, 2, 1);
    p.channel(0, 1, ChannelType::Port);
    p.channel(1, 0, ChannelType::Port);
    Block a = p.on(0), b = p.on(1);
    a.wait({0}, ChannelType::Port).nop();
    if (!signalBehind)
      a.signal({0}, ChannelType::Port);
    a.remote(OpKind::Put, {a.of(1, BufferKind::Output, 0, 1, ChannelType::Port)}, {in(0)}, ChannelType::Port, {0})
        .nop();
    if (signalBehind)
      a.signal({0}, ChannelType::Port);
    if (flush)
      a.flush({0}).nop();
    a.copy(in(0), in(1));
    b.signal({0}, ChannelType::Port).wait({0}, ChannelType::Port).nop().copy(in(0), out(0));
    return p.program;
  };
  CHECK(prove(send(true, true)).result.proven);
  const Proof unflushed = prove(send(false, true));
  CHECK(unflushed.says("race on input[0] of rank 0: the read ('put') by rank 0, block 0 and the write ('copy')"));
  CHECK(unflushed.says("the port may still read its source: a flush of the channel after the put"));
  CHECK(prove(send(true, false)).says("race on output[0] of rank 1: the write ('put') by rank 0, block 0"));
}

TEST_CASE("one cause on many ranks is one finding") {
  Plan p = allGather(8);
  for (Rank &rank : p.program.ranks)
    rank.blocks[0].ops.erase(rank.blocks[0].ops.begin() + 4);
  const Proof proof = prove(p.program);
  CHECK(proof.ids.size() == 1);
  CHECK(proof.says("note: and 7 more like it on other ranks"));
}

TEST_CASE("of a long schedule the last steps are shown, and ranks that do alike are told together") {
  Plan p = allGatherRing(8);
  p.on(3).nop().copy(out(0, 2), out(2, 2)).copy(out(4), out(1));
  const Proof proof = prove(p.program);
  CHECK(proof.says("note: schedule: and "));
  Plan q = allGather(8);
  q.on(0).nop().copy(out(0), out(2));
  CHECK(prove(q.program).has("result_foreign"));
  q.on(0).copy(out(1, 2), out(3, 2));
  CHECK(prove(q.program).says("ranks 0 to 6, block 0 run up to their operation 5 ('signal')"));
}

TEST_CASE("a finding points into the source") {
  Plan p(CollectiveKind::Test, 1, 2, 2);
  SourceMap &sources = p.program.sources;
  sources.setContents(sources.addFile("a.cpp"), "copy(a);\ncopy(b);\n");
  const LocId first = sources.addPlace(0, 1, 1), second = sources.addPlace(0, 2, 1);
  p.on(0).copy(out(0, 2), in(0, 2)).at(first).copy(out(1), in(1)).at(second);
  CHECK(prove(p.program).says("a.cpp:2:1: error: race on output[1] of rank 0"));
  CHECK(prove(p.program).says("a.cpp:1:1: note: the other access"));
}

TEST_CASE("of a long schedule the last steps are told") {
  Plan p(CollectiveKind::Test, 1, 1, 1);
  constexpr std::uint32_t blocks = 40; // each starts the next; the last one and a stranger write one chunk
  for (std::uint32_t b = 0; b + 1 < blocks; ++b)
    p.semaphore(0, 0);
  p.on(0, 0).release({0});
  for (std::uint32_t b = 1; b + 1 < blocks; ++b)
    p.on(0, b).acquire({b - 1}).nop().release({b});
  p.on(0, blocks - 1).acquire({blocks - 2}).nop().copy(out(0), in(0));
  p.on(0, blocks).copy(out(0), in(0));
  CHECK(prove(p.program).says("note: schedule: and 32 steps before"));
}
