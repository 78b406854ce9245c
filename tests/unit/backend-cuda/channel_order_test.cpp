// Tests that operations on a channel keep their order, although each thread of a block has its own channel.
#include "emit.h"

#include "tests/cuda/program_maker.h"

using namespace mscclc;
using namespace mscclc::test;

namespace {

/// Statements of rank 0's only block of three ranks, without comments; `fill` adds to each rank's block.
template <class Fill> std::string statements(ChannelType type, Fill fill) {
  ProgramMaker m("three", ir::CollectiveKind::Test, 3, 4, 4, 4, 1);
  m.connectAll(type);
  for (std::uint32_t r = 0; r < 3; ++r)
    fill(m, r);
  return blockProgram(emit(m.program), 0);
}

bool syncsBefore(const std::string &text, const std::string &call) {
  INFO(text);
  const std::size_t at = text.find(call), comment = text.rfind("//", at);
  REQUIRE(at != std::string::npos);
  const std::size_t sync = text.rfind("k.sync();", comment);
  return sync != std::string::npos && text.find_first_not_of(" \n", sync + 9) == comment;
}

} // namespace

TEST_CASE("waits on one channel by different threads are kept in order") {
  const auto both = [](OpKind kind, std::vector<std::uint32_t> second) {
    return statements(ChannelType::Memory, [&](ProgramMaker &m, std::uint32_t r) {
      m.add(r, 0, kind, {}, {}, {0, 1}, ChannelType::Memory);
      m.add(r, 0, kind, {}, {}, second, ChannelType::Memory);
    });
  };
  CHECK(syncsBefore(both(OpKind::Wait, {1}), "wait(k, 1, one(1))"));
  CHECK_FALSE(syncsBefore(both(OpKind::Wait, {0}), "wait(k, 1, one(0))"));
  // So are signals, which may be stored as counts.
  CHECK(syncsBefore(both(OpKind::Signal, {1}), "signal(k, one(1))"));
  CHECK_FALSE(syncsBefore(both(OpKind::Signal, {0}), "signal(k, one(0))"));
}

TEST_CASE("requests for a port are made in the program's order") {
  const std::string text = statements(ChannelType::Port, [](ProgramMaker &m, std::uint32_t r) {
    const auto to = [&](std::uint32_t peer) { return m.remote(r, peer, BufferKind::Output, r, 1, ChannelType::Port); };
    const std::uint32_t a = (r + 1) % 3, b = (r + 2) % 3;
    m.add(r, 0, OpKind::Put, {m.input(0), m.input(1)}, {to(a), to(b)}, {m.channel(0, r, a), m.channel(0, r, b)},
          ChannelType::Port);
    m.add(r, 0, OpKind::Signal, {}, {}, {m.channel(0, r, b)}, ChannelType::Port);
    m.add(r, 0, OpKind::Flush, {}, {}, {m.channel(0, r, b)}, ChannelType::Port);
  });
  CHECK(syncsBefore(text, "portSignal(k, 1"));
  CHECK_FALSE(syncsBefore(text, "portFlush(k, 2"));
}

TEST_CASE("the end of a pipeline's body runs into its beginning") {
  const std::string text = statements(ChannelType::Memory, [](ProgramMaker &m, std::uint32_t r) {
    ir::Op &loop = m.add(r, 0, OpKind::Pipeline);
    loop.imm = 64;
    loop.count = 1;
    loop.bodySize = 2;
    m.add(r, 0, OpKind::Wait, {}, {}, {1}, ChannelType::Memory);
    m.add(r, 0, OpKind::Wait, {}, {}, {0, 1}, ChannelType::Memory);
  });
  CHECK(syncsBefore(text, "wait(k, 1, one(1))"));
  CHECK(syncsBefore(text, "wait(k, 2, list<2>"));
}
