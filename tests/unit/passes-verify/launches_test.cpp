// Tests double scratch: faults that only the third launch shows, and cases in which two launches are sufficient.
#include "algorithms.h"
#include "prove.h"

using namespace plan;

TEST_CASE("where every rank hears from every other, two launches decide about double scratch") {
  const Proof proof = prove(allReducePackets(3, true).program);
  CHECK(proof.result.proven);
  CHECK(proof.result.launches == 2);
  const Proof exhaustive = prove(allReducePackets(3, true).program, {.exhaustive = true});
  CHECK(exhaustive.result.proven);
  CHECK(exhaustive.result.launches == 3);
}

TEST_CASE("a ring, in which a rank runs two launches ahead of the one it writes to") {
  for (const std::uint32_t n : {2u, 3u, 4u}) {
    Plan p(CollectiveKind::SendRecv, n, 1, 1, false, 1);
    p.program.doubleScratch = true;
    for (std::uint32_t r = 0; r < n; ++r) {
      p.channel(r, (r + 1) % n);
      p.channel(r, (r + n - 1) % n);
    }
    const std::uint32_t from = n == 2 ? 0 : 1; // of two ranks, the first channels are a pair
    for (std::uint32_t r = 0; r < n; ++r) {
      Block b = p.on(r);
      b.remote(OpKind::Put, {b.of((r + 1) % n, BufferKind::Scratch, 0)}, {in(0)}).nop().signal({0}).wait({from}).nop();
      b.copy(out(0), scratch(0));
    }
    const Proof proof = prove(p.program);
    CAPTURE(n, proof.text);
    CHECK(proof.result.proven == (n == 2)); // there the next rank is the one that was heard from
    CHECK(proof.has("relaunch_race") == (n != 2));
  }
}

TEST_CASE("one rank that does not hear from one other is enough to need the third launch") {
  for (const bool answers : {false, true}) {
    Plan p(CollectiveKind::Test, 3, 1, 1, false, 1);
    p.program.doubleScratch = true;
    p.connectAll();
    Block reader = p.on(0), third = p.on(1), writer = p.on(2);
    reader.signal(answers ? Ids{0, 1} : Ids{0}).wait({0, 1}).nop().copy(out(0), scratch(0));
    third.signal({0, 1}).wait({0, 1});
    writer.remote(OpKind::Put, {writer.of(0, BufferKind::Scratch, 0)}, {in(0)}).nop();
    writer.signal({0, 1}).wait(answers ? Ids{0, 1} : Ids{1});
    const Proof proof = prove(p.program);
    CAPTURE(proof.text);
    CHECK(proof.result.proven == answers);
    CHECK(proof.has("relaunch_race") != answers);
    CHECK(prove(p.program, {.exhaustive = true}).result.proven == answers);
  }
}

TEST_CASE("a port put that is still on its way two launches later") {
  Plan p(CollectiveKind::Test, 2, 1, 1, false, 2);
  p.program.doubleScratch = true;
  p.connectAll();
  p.connectAll(ChannelType::Port);
  for (std::uint32_t r = 0; r < 2; ++r) {
    Block b = p.on(r);
    b.copy(scratch(0), in(0)).nop();
    b.remote(OpKind::Put, {b.of(1 - r, BufferKind::Scratch, 1, 1, ChannelType::Port)}, {scratch(0)}, ChannelType::Port,
             {0});
    b.nop().signal({0}).wait({0});
  }
  CHECK(prove(p.program).has("relaunch_race"));
  for (std::uint32_t r = 0; r < 2; ++r)
    p.on(r).signal({0}, ChannelType::Port).wait({0}, ChannelType::Port);
  CHECK(prove(p.program).result.proven);
}
