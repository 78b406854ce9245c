// What packets tell of the reads that they were computed from.
#include "prove.h"

using namespace plan;

TEST_CASE("the first of several readers of a packet tells that its source was read") {
  // Rank 1 sends its scratch[0] as a packet; block 1 of rank 0 takes it and tells block 0, which takes it too and, in
  // the same phase, overwrites the source.
  Plan p(CollectiveKind::Test, 2, 1, 1, false, 8);
  p.program.protocol = Protocol::LL;
  p.connectAll();
  p.semaphore(0);
  Block sender = p.on(1), other = p.on(0, 1), last = p.on(0, 0);
  sender.relaxedWait({0}).nop().remote(OpKind::PutPacket, {sender.of(0, BufferKind::Scratch, 1)}, {scratch(0)});
  other.remote(OpKind::UnpackPacket, {scratch(4)}, {scratch(1)}, ChannelType::None).nop().release({0});
  last.relaxedSignal({0}).acquire({0}).nop();
  last.remote(OpKind::UnpackPacket, {scratch(5)}, {scratch(1)}, ChannelType::None);
  last.remote(OpKind::Put, {last.of(1, BufferKind::Scratch, 0)}, {scratch(6)});
  for (const bool clocks : {false, true}) {
    DiagnosticEngine diags;
    const bool proven = mscclc::passes::verify(p.program, diags, {.clocks = clocks}).proven;
    CAPTURE(clocks, diags.render(false));
    CHECK(proven);
  }
  // Without the first one nothing orders them: the two operations are in one phase.
  Program alone = without(p.program, 0, 1, 0);
  CHECK(prove(alone).has("race"));
}
