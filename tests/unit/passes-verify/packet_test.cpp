// Tests what packets say about the reads from which they were computed.
#include "prove.h"

using namespace plan;

namespace {
/// These programs keep plain data and packets in one scratch buffer.
const mscclc::passes::VerifyOptions oneSize{.oneSize = true};
} // namespace

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
  const Proof fixed = prove(p.program, {.fixedScratch = true});
  CAPTURE(fixed.text);
  CHECK(fixed.result.proven);
  CHECK(prove(p.program).says(
      "rank 0, block 1, operation 0: error: launched again with another message size, plain data in the scratch of "
      "rank 0 may be taken for packets: at another size scratch[4] may lie where packets are read "
      "[--allow=size-change]"));
  // Without the first one nothing orders them: the two operations are in one phase.
  Program alone = without(p.program, 0, 1, 0);
  CHECK(prove(alone, oneSize).has("race"));
}

TEST_CASE("a packet keeps no read of its launch before a write, unless it was computed from what was read") {
  // Two blocks of rank 0 send half of a packet each. The first block of rank 1 reads output[0] and signals them; the
  // second one overwrites it with what they send.
  const auto make = [](bool tellBoth) {
    Plan p(CollectiveKind::Test, 2, 1, 1, false, 8);
    p.program.protocol = Protocol::LL;
    for (std::uint32_t i = 0; i < 2; ++i) {
      p.channel(0, 1);
      p.channel(1, 0);
    }
    Block reader = p.on(1, 0);
    reader.copy(scratch(0), out(0)).nop().signal(tellBoth ? Ids{0, 1} : Ids{1});
    p.on(1, 1).remote(OpKind::UnpackPacket, {out(0)}, {scratch(2)}, ChannelType::None);
    for (std::uint32_t b = 0; b < 2; ++b) {
      Block sender = p.on(0, b);
      if (tellBoth || b == 1)
        sender.wait({b}).nop();
      sender.remote(OpKind::PutPacket, {sender.of(1, BufferKind::Scratch, 2)}, {in(0)}).slice(b, 2);
    }
    return p.program;
  };
  const Proof both = prove(make(true), oneSize), proof = prove(make(false), oneSize);
  CAPTURE(both.text, proof.text);
  CHECK(both.says("race on output[0] of rank 1: the read ('copy') by rank 1, block 0 and the write ('upkt') by rank 1, "
                  "block 1 are not ordered"));
  CHECK(both.says("only a packet orders them"));
  CHECK_FALSE(both.says("no sync orders the two blocks"));
  CHECK(proof.says("no sync orders the two blocks")); // nobody signals the sender of one half
}

TEST_CASE("packets that are forwarded keep no read before a write, either") {
  // As before, but through another rank, which forwards the packets.
  const auto make = [](bool tellBoth) {
    Plan p(CollectiveKind::Test, 3, 1, 1, false, 8);
    p.program.protocol = Protocol::LL;
    for (std::uint32_t i = 0; i < 2; ++i) {
      p.channel(0, 1);
      p.channel(1, 0);
    }
    p.channel(2, 1);
    p.channel(1, 2);
    p.on(1, 0).copy(scratch(0), out(0)).nop().signal(tellBoth ? Ids{0, 1, 2} : Ids{1, 2});
    p.on(1, 1).remote(OpKind::UnpackPacket, {out(0)}, {scratch(2)}, ChannelType::None);
    Block through = p.on(2);
    through.remote(OpKind::ReadPutPacket, {through.of(1, BufferKind::Scratch, 2)}, {scratch(2)});
    through.wait({0});
    for (std::uint32_t b = 0; b < 2; ++b) {
      Block sender = p.on(0, b);
      if (tellBoth || b == 1)
        sender.wait({b}).nop();
      sender.remote(OpKind::PutPacket, {sender.of(2, BufferKind::Scratch, 2)}, {in(0)}).slice(b, 2);
    }
    p.program.doubleScratch = true; // else the next launch would write packets that are still read
    return p.program;
  };
  CHECK(prove(make(true), oneSize).says("only a packet orders them"));
  CHECK_FALSE(prove(make(true), oneSize).says("no sync orders the two blocks"));
  CHECK(prove(make(false), oneSize).says("no sync orders the two blocks"));
}
