// Tests what the threads of a block do within one phase: thread i does the i-th part of an operation, and data
// operations divide their elements in the same way.
#include "prove.h"

#include "passes/simulate/simulate.h"

using namespace plan;

namespace {

bool runsRight(const Program &program) {
  DiagnosticEngine diags;
  return mscclc::passes::simulate(program, diags, {.schedules = 300}).ok;
}

/// Rank 1 puts to rank 0 and says so; rank 0 waits and signals rank 2 in one phase, as `relay` writes it; rank 2 then
/// gets from rank 0.
template <typename Relay> Plan relayed(Relay relay) {
  Plan p(CollectiveKind::Custom, 3, 1, 1, false, 1);
  p.program.collective.expectations = {{2, 0, {{1, 0}}, noLoc}};
  p.connectAll(); // rank 0: channel 0 to rank 1, 1 to rank 2; rank 2: 0 to rank 0
  Block from = p.on(1), by = p.on(0), to = p.on(2);
  from.relaxedWait({0}).nop().remote(OpKind::Put, {from.of(0, BufferKind::Scratch, 0)}, {in(0)}).nop().signal({0});
  by.relaxedSignal({0});
  relay(by);
  by.nop().relaxedWait({1});
  to.wait({0}).nop().remote(OpKind::Get, {out(0)}, {to.of(0, BufferKind::Scratch, 0)}, ChannelType::Memory, {0});
  to.nop().relaxedSignal({0});
  return p;
}

} // namespace

TEST_CASE("a thread that waits, and then signals in the same phase, passes on what it heard") {
  const Plan right = relayed([](Block &b) { b.wait({0}).signal({1}); });
  CHECK(prove(right.program).result.proven);
  CHECK(runsRight(right.program));
  const auto refused = [](auto relay) { CHECK(prove(relayed(relay).program).has("race")); };
  refused([](Block &b) { b.signal({1}).wait({0}); });        // the other way round
  refused([](Block &b) { b.relaxedWait({0}).signal({1}); }); // it saw no data itself
  refused([](Block &b) { b.wait({0}).relaxedSignal({1}); });
}

TEST_CASE("what one thread waited for, another does not pass on within the phase") {
  // Thread 0 waits for rank 1, thread 1 signals rank 2: its first signal goes to rank 1.
  Plan p = relayed([](Block &b) { b.wait({0}).signal({0, 1}); });
  p.on(1).wait({0});
  CHECK(prove(p.program).has("race"));
  Plan apart = relayed([](Block &b) { b.wait({0}).nop().signal({0, 1}); });
  apart.on(1).wait({0});
  CHECK(prove(apart.program).result.proven);
}

TEST_CASE("what a thread heard before the last nop needs no passing on, what it heard in the last iteration does") {
  // The wait of one iteration and the signal of the next are in one phase, and done by one thread.
  const auto make = [](bool sameThread) {
    Plan p(CollectiveKind::Test, 3, 1, 1, false, 1);
    p.connectAll();
    Block by = p.on(0), from = p.on(1), to = p.on(2);
    by.pipeline(1024, 1, 3);
    sameThread ? by.signal({1}).nop().wait({0}) : by.signal({0, 1}).nop().wait({0});
    sameThread ? by.signal({1}) : by.signal({0, 1});
    from.pipeline(1024, 1, 3).remote(OpKind::Put, {from.of(0, BufferKind::Scratch, 0)}, {in(0)}).nop().signal({0});
    if (!sameThread) {
      from.pipeline(1024, 1, 1).wait({0});
      from.wait({0});
    }
    to.pipeline(1024, 1, 1).wait({0});
    to.wait({0}).nop();
    to.remote(OpKind::Get, {out(0)}, {to.of(0, BufferKind::Scratch, 0)}, ChannelType::Memory, {0});
    return prove(p.program);
  };
  const std::string race = "race on scratch[0] of rank 0: the write ('put') by rank 1, block 0 and the read ('get')";
  CHECK_FALSE(make(true).says(race));
  CHECK(make(false).says(race));
}

TEST_CASE("threads that acquire one semaphore at once know not which release each of them got") {
  const auto make = [](bool apart) {
    Plan p(CollectiveKind::Custom, 2, 1, 1, false, 1);
    p.program.collective.expectations = {{1, 0, {{0, 0}}, noLoc}};
    for (int i = 0; i < 2; ++i)
      p.semaphore(0);
    const std::uint32_t a = p.channel(0, 1), b = p.channel(0, 1);
    p.channel(1, 0);
    p.channel(1, 0);
    p.on(0, 0).nop().release({0, 1}).nop().copy(scratch(0), in(0)).nop().release({0});
    p.on(0, 1).acquire({0});
    if (apart)
      p.on(0, 1).nop();
    p.on(0, 1).acquire({1, 0}).signal({a, b}).nop().relaxedWait({b});
    Block get = p.on(1);
    get.wait({1}).nop().remote(OpKind::Get, {out(0)}, {get.of(0, BufferKind::Scratch, 0)}, ChannelType::Memory, {0});
    get.nop().relaxedSignal({1}).wait({0});
    return p.program;
  };
  CHECK(prove(make(false)).has("race"));
  CHECK_FALSE(runsRight(make(false)));
  CHECK(prove(make(true)).result.proven);
  CHECK(runsRight(make(true)));
}

TEST_CASE("signals of several threads to one counter may come in any order") {
  // Rank 0 puts, then thread 1 tells rank 2 so, and thread 0 signals it in a relaxed way.
  const auto make = [](bool sameThread, std::uint32_t hears) {
    Plan p(CollectiveKind::Custom, 3, 1, 1);
    p.program.collective.expectations = {{2, 0, {{0, 0}}, noLoc}};
    p.connectAll();
    Block a = p.on(0), b = p.on(1), c = p.on(2);
    a.relaxedWait({0, 1}).nop().remote(OpKind::Put, {a.of(2, BufferKind::Output, 0)}, {in(0)}).nop();
    a.signal(sameThread ? Ids{1, 0} : Ids{0, 1}).relaxedSignal({1});
    b.relaxedSignal({0}).wait({0});
    c.relaxedSignal({0}).wait({0});
    if (hears == 1)
      c.nop().copy(in(0), out(0)).nop();
    c.wait({0});
    return p.program;
  };
  CHECK(prove(make(true, 1)).result.proven);
  CHECK(runsRight(make(true, 1)));
  CHECK(prove(make(false, 1)).has("race"));
  CHECK(prove(make(false, 2)).result.proven); // having heard both
  CHECK(runsRight(make(false, 2)));
}

TEST_CASE("around a loop without a nop, there is no last signal") {
  // Thread 0 signals with data in each iteration, thread 1 in a relaxed way.
  const auto make = [](bool nop) {
    Plan p(CollectiveKind::Test, 3, 1, 1);
    p.connectAll();
    Block a = p.on(0);
    a.remote(OpKind::Put, {a.of(2, BufferKind::Output, 0)}, {in(0)}).nop();
    a.pipeline(1024, 1, nop ? 3 : 2).signal({1}).relaxedSignal({0, 1});
    if (nop)
      a.nop();
    p.on(1).pipeline(1024, 1, 1).relaxedWait({0});
    p.on(2).pipeline(1024, 1, 2).wait({0}).wait({0});
    p.on(2).nop().copy(in(0), out(0));
    return prove(p.program);
  };
  const std::string race = "race on output[0] of rank 2: the write ('put') by rank 0, block 0 and the read ('copy')";
  CHECK(make(false).says(race));
  CHECK_FALSE(make(true).says(race));
}

TEST_CASE("what stands behind a loop goes on in the phase of its last iteration") {
  // Thread 0 waits at the end of the loop; behind it, thread 1 waits on the same channel.
  const auto make = [](bool apart) {
    Plan p(CollectiveKind::Test, 3, 1, 1);
    p.connectAll();
    p.on(0).pipeline(1024, 1, 2).nop().wait({0});
    if (apart)
      p.on(0).nop();
    p.on(0).wait({1, 0});
    p.on(1).pipeline(1024, 1, 1).signal({0});
    p.on(1).signal({0});
    p.on(2).signal({0});
    return prove(p.program);
  };
  CHECK(make(false).says("rank 0, block 0, operation 3: error: two threads of the block wait on memory channel 0"));
  CHECK(make(true).result.proven);

  // What comes at the beginning of its iterations is over by then.
  Plan p(CollectiveKind::Test, 3, 1, 1);
  p.connectAll();
  p.on(0).pipeline(1024, 1, 3).wait({0}).nop().copy(out(0), in(0));
  p.on(0).wait({1, 0});
  p.on(1).pipeline(1024, 1, 1).signal({0});
  p.on(1).signal({0});
  p.on(2).signal({0});
  CHECK(prove(p.program).result.proven);

  // Acquires of one iteration that stand in a row do so in each.
  Plan rows(CollectiveKind::Test, 1, 1, 1);
  rows.semaphore(0);
  rows.semaphore(0);
  rows.on(0, 0).pipeline(1024, 1, 4).acquire({0}).acquire({1, 0}).nop().copy(out(0), in(0));
  rows.on(0, 1).pipeline(1024, 1, 2).release({0, 1}).release({0});
  CHECK(prove(rows.program).result.proven);
}

TEST_CASE("one thread treats an element in all operations of a phase that begin alike") {
  const auto make = [](auto ops) {
    Plan p(CollectiveKind::Test, 1, 4, 4, false, 2);
    ops(p.on(0));
    return p.program;
  };
  const auto right = [&](auto ops) {
    CHECK(prove(make(ops)).result.proven);
    CHECK(runsRight(make(ops)));
  };
  const auto wrong = [&](auto ops) { CHECK(prove(make(ops)).has("race")); };
  right([](Block b) { b.copy(out(0), in(0)).copy(out(1), out(0)); });
  right([](Block b) { b.copy(out(0, 2), in(0, 2)).reduce(out(2, 2), {out(0, 2), in(2, 2)}); });
  right([](Block b) { b.copy(out(0), in(0)).copy(out(0), in(1)).copy(in(1), out(0)); });
  right([](Block b) { b.copy(out(0), in(0)).slice(1, 3).copy(out(1), out(0)).slice(1, 3); });
  wrong([](Block b) { b.copy(out(0, 2), in(0, 2)).copy(out(2), out(1)); });       // another start
  wrong([](Block b) { b.copy(out(0, 2), in(0, 2)).copy(out(2), out(0)); });       // another size
  wrong([](Block b) { b.copy(out(0), in(0)).copy(out(1), out(0)).slice(0, 2); }); // another slice
  wrong([](Block b) { b.copy(out(0, 2), in(0, 2)).copy(out(1, 2), out(2, 2)).copy(in(0, 2), out(1, 2)); });
  wrong([](Block b) { b.pipeline(1040, 1, 1).copy(out(0), in(0)).copy(out(1), out(0)); }); // a slice, then the whole
  wrong([](Block b) { b.copy(out(0), in(0)).pipeline(1040, 1, 1).copy(out(1), out(0)); });
  wrong([](Block b) { b.pipeline(1040, 1, 1).copy(out(0), in(0)).pipeline(2080, 1, 1).copy(out(1), out(0)); });
  right([](Block b) { b.pipeline(1024, 1, 2).copy(out(0), in(0)).copy(out(1), out(0)); });
  wrong([](Block b) { b.pipeline(24, 1, 2).copy(out(0), in(0)).copy(out(1), out(0)); }); // begins within a word
  Program fine = make([](Block b) { b.copy(out(0), in(0)).copy(out(1), out(0)); });
  fine.bufferAlignment = 4; // so do chunks, where messages are small
  CHECK(prove(fine).has("race"));
}

TEST_CASE("through a switch a memory has other addresses, which a thread's order does not hold for") {
  const auto make = [](bool nop) {
    Plan p(CollectiveKind::Test, 1, 1, 1, false, 1);
    p.switchChannel(BufferKind::Output);
    p.on(0).remote(OpKind::SwitchBroadcast, {onSwitch(0, 0)}, {in(0)}, ChannelType::Switch, {0});
    if (nop)
      p.on(0).nop();
    p.on(0).copy(scratch(0), out(0));
    return p.program;
  };
  CHECK(prove(make(false)).has("race"));
  CHECK(prove(make(true)).result.proven);
}

TEST_CASE("packets are shared out by what they hold, plain data by words") {
  const auto make = [](bool packetBehind) {
    Plan p(CollectiveKind::Test, 1, 2, 2, false, 2);
    p.program.protocol = Protocol::LL;
    Block b = p.on(0);
    b.remote(OpKind::CopyPacket, {scratch(0)}, {in(0)}, ChannelType::None).nop();
    b.remote(OpKind::UnpackPacket, {out(0)}, {scratch(0)}, ChannelType::None);
    if (packetBehind)
      b.remote(OpKind::CopyPacket, {scratch(1)}, {out(0)}, ChannelType::None);
    else
      b.copy(out(1), out(0));
    return p.program;
  };
  CHECK(prove(make(true)).result.proven);
  CHECK(runsRight(make(true)));
  CHECK(prove(make(false)).has("race"));
}
