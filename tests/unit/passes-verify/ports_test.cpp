// Port channels that several blocks put on: the queue keeps the order of each, not that between them.
#include "prove.h"

using namespace plan;

namespace {

/// Two blocks of rank 0 put on one port channel when rank 1 is ready; the one of `order` that comes second signals.
Plan twoSenders(std::uint32_t secondBlock, std::uint32_t firstTo) {
  Plan p(CollectiveKind::Custom, 2, 2, 2);
  p.program.collective.expectations = {{1, 1, {{0, 1}}, noLoc}};
  if (firstTo == 0)
    p.program.collective.expectations.push_back({1, 0, {{0, 0}}, noLoc});
  const std::uint32_t port = p.channel(0, 1, ChannelType::Port), back = p.channel(1, 0, ChannelType::Port);
  Ids ready;
  for (std::uint32_t b = 0; b < 2; ++b) {
    const std::uint32_t channel = p.channel(0, 1);
    ready.push_back(p.channel(1, 0));
    Block sender = p.on(0, b);
    const bool second = b == secondBlock;
    const std::uint32_t to = second ? 1 : firstTo;
    sender.relaxedWait({channel}).nop();
    sender.remote(OpKind::Put, {sender.of(1, BufferKind::Output, to, 1, ChannelType::Port)}, {in(second)},
                  ChannelType::Port, {port});
    sender.nop();
    if (second)
      sender.signal({port}, ChannelType::Port);
    sender.flush({port});
  }
  p.on(1).relaxedSignal(ready).wait({back}, ChannelType::Port);
  return p;
}

} // namespace

TEST_CASE("a signal does not cover what another block puts on the channel unless it comes after") {
  for (const std::uint32_t second : {0u, 1u}) {
    Plan p = twoSenders(second, 0);
    CHECK(prove(p.program).says("rank 1 may end its launch before output[0] of rank 1 is written by rank 0, block " +
                                std::to_string(1 - second)));
    const std::uint32_t s = p.semaphore(0);
    auto &ops = p.program.ranks[0].blocks[second].ops;
    Op signal = ops[4];
    ops.resize(4);
    p.on(0, 1 - second).release({s});
    p.on(0, second).acquire({s}).nop();
    ops.push_back(signal);
    CHECK(prove(p.program, {}, {"unflushed-source"}).result.proven);
  }
}

TEST_CASE("puts of two blocks on one channel come in any order") {
  for (const std::uint32_t second : {0u, 1u})
    CHECK(prove(twoSenders(second, 1).program).has("race"));
}

TEST_CASE("a block's own flush counts, whoever flushed before") {
  Plan p(CollectiveKind::Custom, 2, 1, 1);
  p.program.collective.expectations = {{1, 0, {{0, 0}}, noLoc}};
  p.program.ranks[0].scratchChunks = 1;
  const std::uint32_t port = p.channel(0, 1, ChannelType::Port), back = p.channel(1, 0, ChannelType::Port);
  const std::uint32_t waits = p.channel(0, 1), signals = p.channel(1, 0);
  const std::uint32_t goesOn = p.channel(0, 1), sends = p.channel(1, 0);
  const std::uint32_t tells = p.channel(0, 1), hears = p.channel(1, 0);
  const std::uint32_t s = p.semaphore(0);
  Block putter = p.on(0, 0);
  putter.relaxedWait({waits}).copy(scratch(0), in(0)).nop();
  putter.remote(OpKind::Put, {putter.of(1, BufferKind::Output, 0, 1, ChannelType::Port)}, {scratch(0)},
                ChannelType::Port, {port});
  putter.nop().signal({port}, ChannelType::Port).release({s});
  // By now the other block has flushed, and has told nobody.
  putter.relaxedWait({goesOn}).flush({port}).nop().copy(scratch(0), in(0));
  p.on(0, 1).acquire({s}).nop().relaxedSignal({tells}).flush({port});
  p.on(1).relaxedSignal({signals}).relaxedWait({hears}).relaxedSignal({sends}).wait({back}, ChannelType::Port);
  CHECK(prove(p.program).result.proven);
}
