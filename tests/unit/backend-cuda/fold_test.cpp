#include "emit.h"

#include "tests/cuda/program_maker.h"

#include <random>

using namespace mscclc;
using namespace mscclc::test;

namespace {

/// Every rank puts its share to every other, one fused operation, between two handshakes.
ir::Program allPairs(std::uint32_t n) {
  ProgramMaker m("all_pairs", ir::CollectiveKind::AllGather, n, 1, n, 0, 1);
  const std::uint32_t channels = m.connectAll();
  for (std::uint32_t r = 0; r < n; ++r) {
    m.meet(r, 0, channels, true);
    std::vector<Chunk> srcs(n - 1, m.input(0)), dsts;
    for (std::uint32_t p = 0; p < n; ++p)
      if (p != r)
        dsts.push_back(m.remote(r, p, BufferKind::Output, r));
    m.add(r, 0, OpKind::Put, srcs, dsts, {}, ChannelType::Memory);
    m.meet(r, 0, channels, false);
  }
  return m.program;
}

/// A share goes around the ring, n - 1 times the same three operations.
ir::Program ring(std::uint32_t n) {
  ProgramMaker m("ring", ir::CollectiveKind::AllGather, n, 1, n, 0, 1, true);
  const std::uint32_t channels = m.connectAll();
  for (std::uint32_t r = 0; r < n; ++r) {
    const std::uint32_t next = (r + 1) % n, last = (r + n - 1) % n;
    for (std::uint32_t s = 0; s + 1 < n; ++s) {
      m.add(r, 0, OpKind::Put, {m.output((r + n - s) % n)}, {m.remote(r, next, BufferKind::Output, (r + n - s) % n)},
            {}, ChannelType::Memory);
      m.add(r, 0, OpKind::Signal, {}, {}, {m.channel(channels, r, next)}, ChannelType::Memory).sync =
          ir::DataSync::Before;
      m.add(r, 0, OpKind::Wait, {}, {}, {m.channel(channels, r, last)}, ChannelType::Memory).sync = ir::DataSync::After;
    }
  }
  return m.program;
}

} // namespace

TEST_CASE("ranks that are equal up to renaming share one program") {
  const std::string text = emit(allPairs(8));
  CHECK(count(text, "void program") == 1);
  CHECK(count(text, "MSCCLC_TABLE") == 0);
  const std::string body = blockProgram(text, 0);
  CHECK(body.find("copy(k, k.whole(1), one(k.input(0)), "
                  "list<7>([&](int i) { return k.peerOutput(i + (i >= k.rank), k.rank); }));") != std::string::npos);
  CHECK(body.find("relaxedSignal(k, list<7>([&](int i) { return i; }));") != std::string::npos);
}

TEST_CASE("the text grows with distinct programs, not with ranks") {
  for (const auto make : {allPairs, ring}) {
    const std::size_t four = emit(make(4)).size(), eight = emit(make(8)).size(), many = emit(make(64)).size();
    INFO(four << " " << eight << " " << many);
    CHECK(many <= eight * 5 / 2);
    CHECK(count(emit(make(64)), "void program") == 1);
  }
}

TEST_CASE("few repetitions are straight-line code, many a loop over them") {
  const std::string few = blockProgram(emit(ring(8)), 0), many = blockProgram(emit(ring(64)), 0);
  CHECK(count(few, "copy(k") == 7);
  CHECK(few.find("for (") == std::string::npos);
  CHECK(count(many, "copy(k") == 1);
  CHECK(count(many, "for (int j = 0; j < 63; ++j) {") == 1);
}

TEST_CASE("a rank of its own gets a program of its own") {
  ir::Program program = allPairs(4);
  program.ranks[2].blocks[0].ops.pop_back();
  const std::string text = emit(program);
  CHECK(count(text, "void program") == 2);
  CHECK(text.find("if (k.rank == 2)\n    program1(k);\n  else\n    program0(k);") != std::string::npos);
}

TEST_CASE("numbers without a formula are tables, in constant memory as far as it reaches") {
  const auto scattered = [](std::uint32_t n) {
    constexpr std::uint32_t chunks = 1000;
    ProgramMaker m("scattered", ir::CollectiveKind::Test, n, chunks, chunks, 0, 1);
    std::mt19937 random(1);
    for (std::uint32_t r = 0; r < n; ++r) {
      std::vector<Chunk> srcs, dsts;
      for (std::uint32_t i = 0; i < chunks; ++i) {
        srcs.push_back(m.input(random() % chunks));
        dsts.push_back(m.remote(r, (r + 1) % n, BufferKind::Output, i));
      }
      m.add(r, 0, OpKind::Put, srcs, dsts, {}, ChannelType::Memory);
    }
    return emit(m.program);
  };
  const std::string few = scattered(8), many = scattered(64);
  CHECK(count(few, "MSCCLC_TABLE uint16_t") == 1);
  CHECK(count(few, "MSCCLC_LARGE_TABLE") == 0);
  CHECK(count(many, "MSCCLC_TABLE uint16_t") == 0);
  CHECK(count(many, "MSCCLC_LARGE_TABLE uint16_t") == 1);
  CHECK(count(many, "void program") == 1);
}

TEST_CASE("equal programs give equal text") {
  CHECK(emit(allPairs(8)) == emit(allPairs(8)));
  CHECK(emit(ring(20)) == emit(ring(20)));
}

TEST_CASE("what the host asks is a formula of the lists' parts, or a table of the host's own") {
  // Every rank's first channel leads to the other half, the further ones stay within their half.
  ProgramMaker m("halves", ir::CollectiveKind::Test, 8, 1, 1, 0, 1);
  for (std::uint32_t r = 0; r < 8; ++r) {
    auto &peers = m.program.ranks[r].memoryPeers;
    peers.push_back((r + 4) % 8);
    for (std::uint32_t s = 1; s < 4; ++s)
      peers.push_back(r / 4 * 4 + (r + s) % 4);
    m.add(r, 0, OpKind::Copy, {m.input(0)}, {m.output(0)});
  }
  const std::string split = emit(m.program);
  CHECK(split.find("(i < 1 ? mod(r + 4, 8) : r / 4 * 4 + mod(r + i, 4))") != std::string::npos);
  std::swap(m.program.ranks[2].memoryPeers[0], m.program.ranks[2].memoryPeers[3]);
  std::swap(m.program.ranks[5].memoryPeers[1], m.program.ranks[5].memoryPeers[2]);
  const std::string table = emit(m.program);
  INFO(table);
  CHECK(table.find("static const uint8_t facts0[]") != std::string::npos);
  CHECK(table.find("MSCCLC_TABLE") == std::string::npos);
}

TEST_CASE("a long program's loops over rows are functions") {
  CHECK(emit(ring(8)).find("outlined = false;") != std::string::npos);
  ProgramMaker m("long", ir::CollectiveKind::Test, 2, 40, 40, 0, 1);
  for (std::uint32_t r = 0; r < 2; ++r)
    for (std::uint32_t c = 0; c < 34; ++c)
      m.add(r, 0, OpKind::Copy, {m.input(c * c % 40)}, {m.output(c, 1 + c % 3)});
  CHECK(emit(m.program).find("outlined = true;") != std::string::npos);
}
