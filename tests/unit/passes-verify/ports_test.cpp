// Tests port channels that several blocks use. The queue keeps the order of each block, but there is no order between
// blocks.
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

TEST_CASE("a signal or flush covers in its phase what its own thread put before it, through its channel") {
  // Rank 0 puts through channel 0 and then does `behind`; a second channel gives threads other positions.
  const auto make = [](auto before, auto behind, const Ids &waits) {
    Plan p(CollectiveKind::Custom, 2, 1, 1);
    p.program.collective.expectations = {{1, 0, {{0, 0}}, noLoc}};
    p.connectAll();
    for (int i = 0; i < 2; ++i)
      p.connectAll(ChannelType::Port);
    Block a = p.on(0), b = p.on(1);
    a.relaxedWait({0}).nop();
    before(a);
    a.remote(OpKind::Put, {a.of(1, BufferKind::Output, 0, 1, ChannelType::Port)}, {in(0)}, ChannelType::Port, {0});
    behind(a);
    b.relaxedSignal({0}).wait({waits[0]}, ChannelType::Port).nop().copy(in(0), out(0)).nop();
    if (waits.size() > 1)
      b.wait(Ids(waits.begin() + 1, waits.end()), ChannelType::Port);
    const Proof proof = prove(p.program);
    return proof;
  };
  constexpr ChannelType port = ChannelType::Port;
  const auto nothing = [](Block &) {};
  CHECK(make(nothing, [](Block &a) { a.signal({0}, port).flush({0}); }, {0}).result.proven);
  CHECK(make(nothing, [](Block &a) { a.signal({0, 1}, port).flush({0, 1}); }, {0, 1}).result.proven);
  CHECK(make(nothing, [](Block &a) { a.signal({1, 0}, port).flush({0}); }, {0, 1}).has("race")); // another thread
  CHECK(make(nothing, [](Block &a) { a.signal({1}, port).flush({0}); }, {1}).has("race"));       // another channel
  CHECK(make([](Block &a) { a.signal({0}, port); }, [](Block &a) { a.flush({0}); }, {0}).has("race"));
  CHECK(make(nothing, [](Block &a) { a.signal({0}, port).flush({1, 0}); }, {0}).has("input_still_sent"));
  CHECK(make(nothing, [](Block &a) { a.nop().signal({1, 0}, port).flush({1, 0}); }, {0, 1}).result.proven);
  // A signal of another thread may come before the put's own, and be taken for it.
  const auto signalsTwice = [](Block &a) { a.signal({1, 0}, port); };
  const auto both = [](Block &a) { a.signal({0}, port).flush({0}); };
  CHECK(make(signalsTwice, both, {0, 1, 0}).has("race"));
}

TEST_CASE("what a port's wait completes, the thread that waited may put on in the same phase") {
  const auto make = [](bool apart) {
    Plan p(CollectiveKind::Custom, 3, 1, 1);
    p.program.collective.expectations = {{1, 0, {{0, 0}}, noLoc}, {2, 0, {{0, 0}}, noLoc}};
    p.connectAll();
    for (std::uint32_t from = 0; from < 2; ++from) {
      p.channel(from, from + 1, ChannelType::Port);
      p.channel(from + 1, from, ChannelType::Port);
    }
    Block a = p.on(0), b = p.on(1), c = p.on(2);
    a.relaxedWait({0}).nop();
    a.remote(OpKind::PutWithSignalAndFlush, {a.of(1, BufferKind::Output, 0, 1, ChannelType::Port)}, {in(0)},
             ChannelType::Port, {0});
    // Rank 1's port channels: 0 back to rank 0, 1 on to rank 2.
    b.relaxedWait({1}).nop().relaxedSignal({0});
    b.wait({0}, ChannelType::Port);
    if (apart)
      b.nop();
    b.remote(OpKind::PutWithSignalAndFlush, {b.of(2, BufferKind::Output, 0, 1, ChannelType::Port)}, {out(0)},
             ChannelType::Port, {1});
    c.relaxedSignal({1}).wait({0}, ChannelType::Port);
    const Proof proof = prove(p.program);
    CAPTURE(proof.text);
    CHECK(proof.result.proven);
  };
  make(true);
  make(false);
}

TEST_CASE("a packet brings on what the thread that puts it waited for in the phase, and nothing more") {
  // Rank 0 reads rank 2's output and tells thread `waits` of rank 1, of which threads 0 and 1 put a packet each to rank
  // 2. That takes the packet of thread `taken` and overwrites its output.
  const auto make = [](std::uint32_t waits, std::uint32_t taken) {
    Plan p(CollectiveKind::Test, 3, 1, 1, false, 4);
    p.program.protocol = Protocol::LL;
    p.program.doubleScratch = true;
    p.connectAll(); // rank 0: channel 0 to rank 1, 1 to rank 2; rank 1: 0 to rank 0, 1 to rank 2; rank 2: 0, 1
    for (int i = 0; i < 2; ++i) {
      p.channel(1, 2, ChannelType::Port);
      p.channel(2, 1, ChannelType::Port);
    }
    Block a = p.on(0), b = p.on(1), c = p.on(2);
    a.remote(OpKind::Get, {out(0)}, {a.of(2, BufferKind::Output, 0)}, ChannelType::Memory, {1});
    a.nop().signal({0}).wait({1});
    b.remote(OpKind::CopyPacket, {scratch(0)}, {in(0)}, ChannelType::None);
    b.nop().wait(waits == 0 ? Ids{0, 1} : Ids{1, 0});
    b.remote(
        OpKind::PutPacket,
        {b.of(2, BufferKind::Scratch, 2, 1, ChannelType::Port), b.of(2, BufferKind::Scratch, 3, 1, ChannelType::Port)},
        {scratch(0), scratch(0)}, ChannelType::Port, {0, 1});
    b.nop().flush({0, 1});
    c.signal({1});
    c.remote(OpKind::UnpackPacket, {out(0)}, {scratch(2 + taken)}, ChannelType::None).nop().signal({0});
    return prove(p.program, {.oneSize = true});
  };
  for (std::uint32_t waits = 0; waits < 2; ++waits)
    for (std::uint32_t taken = 0; taken < 2; ++taken) {
      const Proof proof = make(waits, taken);
      CAPTURE(waits, taken, proof.text);
      CHECK(proof.says("race on output[0] of rank 2")); // a packet orders no read of its launch
      CHECK(proof.says("only a packet orders them") == (waits == taken));
    }
}

TEST_CASE("a thread tells on all that it was told is complete, and no more, each time it signals in a phase") {
  // Rank 0 puts through channels 0, 1, 2, and 1 and 0 again: a later put replaces an earlier one in what rank 1 tells
  // on. Rank 1 signals after each; rank 2 gets only the signal after put `told`, counted from 1.
  const Ids channels = {0, 1, 2, 1, 0};
  const auto make = [&](std::uint32_t told, std::uint32_t chunks) {
    Plan p(CollectiveKind::Custom, 3, 5, 5);
    p.connectAll(); // rank 0: channel 0 to rank 1; rank 1: 0 to rank 0, 1 to rank 2; rank 2: 1 to rank 1
    for (int i = 0; i < 3; ++i) {
      p.channel(0, 1, ChannelType::Port);
      p.channel(1, 0, ChannelType::Port);
    }
    for (std::uint32_t i = 0; i < 5; ++i)
      p.program.collective.expectations.push_back({1, i, {{0, i}}, noLoc});
    for (std::uint32_t i = 0; i < chunks; ++i)
      p.program.collective.expectations.push_back({2, i, {{0, i}}, noLoc});
    Block a = p.on(0), b = p.on(1), c = p.on(2);
    a.relaxedWait({0}).nop();
    b.relaxedSignal({0});
    for (std::uint32_t i = 0; i < 5; ++i) {
      a.remote(OpKind::PutWithSignalAndFlush, {a.of(1, BufferKind::Output, i, 1, ChannelType::Port)}, {in(i)},
               ChannelType::Port, {channels[i]});
      b.wait({channels[i]}, ChannelType::Port).signal({i + 1 == told ? 1u : 0u});
    }
    for (std::uint32_t i = 1; i < 5; ++i)
      a.wait({0});
    c.wait({1}).nop();
    for (std::uint32_t i = 0; i < chunks; ++i)
      c.remote(OpKind::Get, {out(i)}, {c.of(1, BufferKind::Output, i)}, ChannelType::Memory, {1});
    c.nop().signal({1});
    b.nop().wait({1});
    return prove(p.program);
  };
  for (std::uint32_t told = 1; told <= 5; ++told) {
    const Proof all = make(told, told);
    CAPTURE(told, all.text);
    CHECK(all.result.proven);
    if (told < 5)
      CHECK(make(told, told + 1).has("race"));
  }
}

TEST_CASE("two threads that are told of one put in a phase both put it on") {
  // Block 0 of rank 1 waits for rank 0's put, and tells so to thread 0 of block 1 and then to thread 1.
  const auto make = [](bool tellsFirst) {
    Plan p(CollectiveKind::Custom, 3, 2, 2);
    for (std::uint32_t rank = 1; rank < 3; ++rank)
      for (std::uint32_t i = 0; i < 2; ++i)
        p.program.collective.expectations.push_back({rank, i, {{0, i}}, noLoc});
    p.connectAll(); // rank 0: channel 0 to rank 1; rank 1: 0 to rank 0, 1 to rank 2; rank 2: 1 to rank 1
    p.channel(0, 1, ChannelType::Port);
    p.channel(1, 0, ChannelType::Port);
    for (int i = 0; i < 2; ++i) {
      p.channel(1, 2, ChannelType::Port);
      p.channel(2, 1, ChannelType::Port);
      p.semaphore(1);
    }
    Block a = p.on(0), hears = p.on(1), puts = p.on(1, 1), c = p.on(2);
    a.relaxedWait({0}).nop();
    a.remote(OpKind::PutWithSignalAndFlush, {a.of(1, BufferKind::Output, 0, 2, ChannelType::Port)}, {in(0, 2)},
             ChannelType::Port, {0});
    hears.relaxedSignal({0});
    if (tellsFirst)
      hears.release({1}).wait({0}, ChannelType::Port).release({0});
    else
      hears.wait({0}, ChannelType::Port).release({0}).release({1});
    puts.relaxedWait({1}).nop().acquire({0, 1});
    puts.remote(OpKind::PutWithSignalAndFlush,
                {puts.of(2, BufferKind::Output, 0, 1, ChannelType::Port),
                 puts.of(2, BufferKind::Output, 1, 1, ChannelType::Port)},
                {out(0), out(1)}, ChannelType::Port, {1, 2});
    c.relaxedSignal({1}).wait({0, 1}, ChannelType::Port);
    return prove(p.program);
  };
  const Proof right = make(false);
  CAPTURE(right.text);
  CHECK(right.result.proven);
  CHECK(make(true).has("race"));
}
