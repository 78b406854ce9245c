// Tests that the simulator finds rare faults: threads that overtake each other, stores that become visible late, users
// that reuse their buffers at once, slices that do not match, launches of other sizes. Apart from its fault, each
// program is right.
#include "../passes-verify/algorithms.h"
#include "../passes-verify/prove.h"

#include "passes/simulate/simulate.h"

using namespace plan;
using namespace mscclc::passes;

namespace {

/// Runs `program` with the defaults, except for the number of schedules. Returns the diagnostics.
std::string run(const Program &program, SimulateOptions options = {}) {
  DiagnosticEngine diags;
  options.type = DataType::I32;
  options.schedules = 60;
  simulate(program, diags, options);
  return diags.render(false);
}

bool isRight(const Program &program, const SimulateOptions &options = {}) {
  return run(program, options).empty();
}

Plan custom(std::uint32_t ranks, std::uint32_t inputs, std::uint32_t outputs, std::uint32_t scratchChunks = 0) {
  return Plan(CollectiveKind::Custom, ranks, inputs, outputs, false, scratchChunks);
}
void expect(Plan &p, std::uint32_t rank, std::uint32_t output, std::uint32_t from, std::uint32_t input) {
  p.program.collective.expectations.push_back({rank, output, {{from, input}}, noLoc});
}

constexpr auto port = ChannelType::Port;

/// Rank 0 puts to ranks 1 and 2 by two port operations, the second of which signals.
Plan twoPortOps(Ids first, Ids second) {
  Plan p = custom(3, 2, 2);
  for (std::uint32_t r = 1; r < 3; ++r) {
    p.channel(0, r), p.channel(r, 0), p.channel(0, r, port), p.channel(r, 0, port);
    expect(p, r, 0, 0, 0), expect(p, r, 1, 0, 1);
    p.on(r).relaxedSignal({0}).wait({0}, port);
  }
  Block b = p.on(0);
  b.relaxedWait({0, 1}).nop();
  const auto to = [&](const Ids &channels, std::uint32_t chunk) {
    Chunks there;
    for (const std::uint32_t c : channels)
      there.push_back(b.of(c + 1, BufferKind::Output, chunk, 1, port));
    return there;
  };
  b.remote(OpKind::Put, to(first, 0), {in(0), in(0)}, port, first);
  b.remote(OpKind::PutWithSignalAndFlush, to(second, 1), {in(1), in(1)}, port, second);
  return p;
}

/// Rank 0 waits until it may put to rank 1, puts, and signals.
Plan put(bool relaxed) {
  Plan p = custom(2, 1, 1);
  p.connectAll();
  expect(p, 1, 0, 0, 0);
  Block a = p.on(0), b = p.on(1);
  a.relaxedWait({0}).nop().remote(OpKind::Put, {a.of(1, BufferKind::Output, 0)}, {in(0)}).nop();
  b.relaxedSignal({0});
  relaxed ? a.relaxedSignal({0}) : a.signal({0});
  relaxed ? b.relaxedWait({0}) : b.wait({0});
  return p;
}

/// The same through a port. Rank 0 waits for the port only if `flushed`.
Plan portPut(bool flushed) {
  Plan p = custom(2, 1, 1);
  p.connectAll();
  p.connectAll(port);
  expect(p, 1, 0, 0, 0);
  Block a = p.on(0);
  a.relaxedWait({0}).nop().remote(OpKind::PutWithSignal, {a.of(1, BufferKind::Output, 0, 1, port)}, {in(0)}, port, {0});
  if (flushed)
    a.flush({0});
  p.on(1).relaxedSignal({0}).wait({0}, port);
  return p;
}

/// Rank 1 gets rank 0's output, and signals it afterwards if `told`.
Plan getOutput(bool told) {
  Plan p = custom(2, 1, 1);
  p.connectAll();
  expect(p, 0, 0, 0, 0), expect(p, 1, 0, 0, 0);
  p.on(0).copy(out(0), in(0)).nop().signal({0});
  Block b = p.on(1);
  b.wait({0}).nop().remote(OpKind::Get, {out(0)}, {b.of(0, BufferKind::Output, 0)}, ChannelType::Memory, {0});
  if (told) {
    b.nop().signal({0});
    p.on(0).wait({0});
  }
  return p;
}

} // namespace

TEST_CASE("positions of port operations are threads of their own") {
  CHECK(isRight(twoPortOps({0, 1}, {0, 1}).program));
  CHECK(run(twoPortOps({1, 0}, {0, 1}).program).find(" leaves ") != std::string::npos);
}

TEST_CASE("a relaxed signal may overtake another thread's, and shows no data") {
  const auto make = [](const Ids &strong) {
    Plan p = custom(3, 1, 2);
    p.connectAll();
    expect(p, 2, 0, 0, 0), expect(p, 2, 1, 0, 0);
    Block a = p.on(0), c = p.on(2);
    a.relaxedWait({1}).nop().remote(OpKind::Put, {a.of(2, BufferKind::Output, 0)}, {in(0)}).nop();
    a.signal(strong).relaxedSignal({1}).nop().wait({1});
    p.on(1).wait({0});
    c.relaxedSignal({0}).wait({0}).nop().copy(out(1), out(0)).nop().signal({0}).relaxedWait({0});
    return p.program;
  };
  CHECK(isRight(make({1, 0})));
  CHECK(run(make({0, 1})).find(" in output[1] of rank 2") != std::string::npos);
}

TEST_CASE("stores are seen late where only a relaxed signal tells of them") {
  CHECK(isRight(put(false).program));
  CHECK_FALSE(isRight(put(true).program));
  CHECK(isRight(put(true).program, {.relaxedShows = true}));
  Program mixed = put(false).program;
  mixed.ranks[1].blocks[0].ops.back().kind = OpKind::RelaxedWait;
  CHECK_FALSE(isRight(mixed));
}

TEST_CASE("a store that one block sees is not seen by all") {
  // Rank 0 stores to rank 2 and signals rank 1, which signals rank 2.
  const auto make = [](bool relaxed) {
    Plan p = custom(3, 1, 2);
    p.connectAll();
    expect(p, 2, 0, 0, 0), expect(p, 2, 1, 0, 0);
    Block a = p.on(0), b = p.on(1), c = p.on(2);
    a.relaxedWait({1}).nop().remote(OpKind::Put, {a.of(2, BufferKind::Output, 0)}, {in(0)}).nop().signal({0});
    b.wait({0}).nop();
    relaxed ? b.relaxedSignal({1}) : b.signal({1});
    c.relaxedSignal({0});
    relaxed ? c.relaxedWait({1}) : c.wait({1});
    c.nop().copy(out(1), out(0));
    return p.program;
  };
  CHECK(isRight(make(false)));
  CHECK(run(make(true)).find(" in output[1] of rank 2") != std::string::npos);
}

TEST_CASE("a user overwrites inputs that a port still sends") {
  CHECK(isRight(portPut(true).program));
  CHECK_FALSE(isRight(portPut(false).program));
  CHECK(isRight(portPut(false).program, {.userAwaitsPorts = true}));
}

TEST_CASE("a user overwrites outputs that a peer still reads") {
  CHECK(isRight(getOutput(true).program));
  CHECK(run(getOutput(false).program).find("output[0] of rank 1") != std::string::npos);
}

TEST_CASE("slices of a group end inside chunks that they do not divide") {
  const auto make = [](std::uint32_t firstHeard) {
    Plan p = custom(1, 2, 1, 2);
    expect(p, 0, 0, 0, 1);
    Ids heard;
    for (std::uint32_t b = 0; b < 4; ++b) {
      p.on(0, b).copy(scratch(0, 2), in(0, 2)).slice(b, 4);
      if (b >= firstHeard) {
        heard.push_back(p.semaphore(0));
        p.on(0, b).nop().release({heard.back()});
      }
    }
    p.on(0, 4).acquire(heard).nop().copy(out(0), scratch(1));
    return p.program;
  };
  CHECK(isRight(make(0)));
  CHECK_FALSE(isRight(make(2)));
  CHECK_FALSE(isRight(make(2), {.sizes = {96}}));
}

TEST_CASE("launches of several sizes share scratch") {
  for (const bool twice : {false, true}) {
    const Program program = allReducePackets(3, twice).program;
    CHECK(isRight(program, {.inTurn = false}));
    const std::string text = run(program);
    CAPTURE(text);
    CHECK(text.empty() == twice);
    if (!twice)
      CHECK(text.find(" bytes, in a row of sizes") != std::string::npos);
  }
  DiagnosticEngine diags;
  const std::string table = simulate(allReducePackets(3, true).program, diags, {.schedules = 2}).table();
  CHECK(table.find("     in turn          2          0  yes\n") != std::string::npos);
}

TEST_CASE("nobody does a position that the block has no thread for") {
  Program program = twoPortOps({0, 1}, {0, 1}).program;
  program.threadsPerBlock = 1;
  CHECK(run(program).find(" hangs: rank 2, block 0 waits for port channel 0") != std::string::npos);
}

TEST_CASE("a thread does the same words in every operation of a phase") {
  Plan p = custom(1, 2, 2, 2);
  expect(p, 0, 0, 0, 0), expect(p, 0, 1, 0, 1);
  p.on(0).copy(scratch(0, 2), in(0, 2)).copy(out(0, 2), scratch(0, 2));
  CHECK(isRight(p.program));
  Plan q = custom(1, 2, 2, 2);
  expect(q, 0, 0, 0, 1);
  q.on(0).copy(scratch(0, 2), in(0, 2)).copy(out(0), scratch(1));
  CHECK_FALSE(isRight(q.program));
}
