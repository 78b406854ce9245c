// Tests faults that remain if synchronisation is inserted by looking only at neighbouring operations of one block. Each
// must be found, with the schedule that shows it.
#include "prove.h"

using namespace plan;

namespace {
void checkRace(const Program &program, const std::string &place, const std::string &first, const std::string &second) {
  const Proof proof = prove(program);
  CAPTURE(proof.text);
  CHECK(proof.says("race on " + place));
  CHECK(proof.says("the " + first));
  CHECK(proof.says("and the " + second));
  CHECK(proof.has("race"));
  CHECK(proof.says("note: schedule 1: "));
  CHECK(proof.says(" only now"));
}
} // namespace

TEST_CASE("a history cleared by an operation's own conflict") {
  Plan p(CollectiveKind::Test, 1, 3, 2); // write after read of in(1)
  p.on(0).copy(out(0), in(2)).nop().copy(out(0, 2), in(0, 2)).copy(in(1), in(2));
  checkRace(p.program, "input[1] of rank 0", "read ('copy') by rank 0", "write ('copy') by rank 0");

  Plan q(CollectiveKind::Test, 2, 3, 4); // read after write, get and put
  q.connectAll();
  Block b = q.on(0);
  b.remote(OpKind::Put, {b.of(1, BufferKind::Input, 0)}, {out(1)}).nop();
  b.remote(OpKind::Get, {out(0, 2), out(2, 2)}, {b.of(1, BufferKind::Input, 1, 2), b.of(1, BufferKind::Input, 1, 2)},
           ChannelType::Memory, {0, 0});
  b.remote(OpKind::Put, {b.of(1, BufferKind::Input, 0)}, {out(1)});
  checkRace(q.program, "output[1] of rank 0", "write ('get')", "read ('put')");
}

TEST_CASE("switch operations touch memory too") {
  Plan p(CollectiveKind::Test, 2, 1, 2, false, 2);
  p.switchChannel(BufferKind::Input);
  p.on(0).copy(scratch(0, 2), out(0, 2));
  p.on(0).remote(OpKind::SwitchBroadcast, {onSwitch(0, 0)}, {scratch(1)}, ChannelType::Switch, {0});
  checkRace(p.program, "scratch[1] of rank 0", "write ('copy')", "read ('gstore')");

  Plan q(CollectiveKind::Test, 2, 1, 1);
  q.switchChannel(BufferKind::Input);
  q.on(0).copy(in(0), out(0));
  q.on(1).remote(OpKind::SwitchReduce, {out(0)}, {onSwitch(0, 0)}, ChannelType::Switch, {0});
  checkRace(q.program, "input[0] of rank 0", "write ('copy') by rank 0", "read ('glre') by rank 1");
}

TEST_CASE("of a packet reduce, the first source is plain") {
  Plan p(CollectiveKind::Test, 1, 1, 2, false, 1);
  p.program.protocol = Protocol::LL;
  p.on(0).remote(OpKind::CopyPacket, {scratch(0)}, {in(0)}, ChannelType::None).copy(out(0), in(0));
  p.on(0).remote(OpKind::ReducePacket, {out(1)}, {out(0), scratch(0)}, ChannelType::None);
  checkRace(p.program, "output[0] of rank 0", "write ('copy')", "read ('repkt')");
}

TEST_CASE("in place, input and output are one memory") {
  Plan p(CollectiveKind::AllGather, 2, 1, 2, true, 2);
  p.connectAll();
  Block b = p.on(1);
  b.copy(out(0, 2), scratch(0, 2)).remote(OpKind::Put, {b.of(0, BufferKind::Scratch, 0)}, {in(0)});
  checkRace(p.program, "output[1] of rank 1", "write ('copy')", "read ('put')");
}

TEST_CASE("two blocks write one chunk; a peer reads what was never signalled") {
  Plan p(CollectiveKind::Test, 1, 1, 1);
  p.on(0, 0).copy(out(0), in(0));
  p.on(0, 1).copy(out(0), in(0));
  checkRace(p.program, "output[0] of rank 0", "write ('copy') by rank 0, block 0", "write ('copy') by rank 0, block 1");
}

TEST_CASE("an operation whose sizes differ is no program") {
  Plan p(CollectiveKind::Test, 2, 4, 1);
  p.connectAll();
  Block b = p.on(0);
  b.remote(OpKind::Get, {out(0)}, {b.of(1, BufferKind::Input, 0, 4)}, ChannelType::Memory, {0});
  CHECK(prove(p.program).says("malformed"));
}
