// Tests what references of the chunk language know about writes.
#include "frontend/dsl/include/mscclc/chunks.hpp"
#include "frontend/lower/last_writes.h"

#include "recorded.h"

#include <algorithm>
#include <random>
#include <vector>

using namespace mscclc;
using namespace mscclc::frontend;

TEST_CASE("the last write to a range is found, however the writes lie") {
  constexpr std::uint64_t chunks = 40;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    // At either end of what may be told apart.
    const std::uint64_t base = seed % 2 == 0 ? 0 : (std::uint64_t{1} << 34) - chunks;
    const auto range = [&] {
      const std::uint64_t begin = random() % chunks, end = begin + 1 + random() % (chunks - begin);
      return ir::MemoryRange{static_cast<ir::BufferKind>(random() % 3), base + begin, base + end};
    };
    LastWrites writes;
    std::vector<std::vector<std::uint32_t>> expected(6, std::vector<std::uint32_t>(chunks)); // [rank, buffer][chunk]
    const auto partOf = [&](std::uint32_t rank, const ir::MemoryRange &of) {
      auto &all = expected[rank * 3 + static_cast<std::size_t>(of.buffer)];
      return std::span(all).subspan(of.begin - base, of.end - of.begin);
    };
    for (std::uint32_t i = 1; i <= 60; ++i) {
      const std::uint32_t writer = random() % 2, reader = random() % 2;
      const ir::MemoryRange written = range(), asked = range();
      writes.note(writer, written, ir::LocId{i + 7});
      REQUIRE(writes.now() == i);
      std::ranges::fill(partOf(writer, written), i);
      const auto part = partOf(reader, asked);
      const std::uint32_t latest = *std::ranges::max_element(part);
      REQUIRE(writes.last(reader, asked) == latest);
      if (latest != 0)
        REQUIRE(writes.placeOf(latest) == ir::LocId{latest + 7});
    }
  }
}

TEST_CASE("what a write costs does not depend on its size") {
  LastWrites writes;
  for (std::uint32_t i = 0; i < 1000; ++i)
    writes.note(0, {ir::BufferKind::Scratch, i, (std::uint64_t{1} << 33) - i}, ir::noLoc);
  CHECK(writes.bytes() < 1000 * 200);
}

TEST_CASE("a ref knows its place") {
  const Outcome outcome = run([] {
    CollectiveProgram program("p", AllReduce(2, 2, false));
    ChunkRef taken = chunk(1, BufferType::Input, 2, 2);
    CHECK((taken.rank() == 1 && taken.buffer() == BufferType::Input && taken.index() == 2 && taken.size() == 2));
    const ChunkRef put = taken.put(0, BufferType::Scratch, 5, {.sendtb = 3});
    CHECK((put.rank() == 0 && put.buffer() == BufferType::Scratch && put.index() == 5 && put.size() == 2));
    const ChunkRef sum = taken.reduce(chunk(1, BufferType::Output, 0, 2), {.recvtb = 3});
    CHECK((sum.rank() == 1 && sum.buffer() == BufferType::Input && sum.index() == 2 && sum.size() == 2));
    const ChunkRef waited = put.wait(1, BufferType::Input, 2, {.recvtb = 3});
    CHECK((waited.rank() == 0 && waited.index() == 5));
    CHECK((ChunkRef().rank() == -1 && ChunkRef().size() == 0));
  });
  REQUIRE(outcome.program);
  CHECK(outcome.program->ranks[0].scratchChunks == 7);
}

TEST_CASE("scratch that refs name is as large on all ranks where there are two halves") {
  for (const bool isDouble : {false, true}) {
    const Outcome outcome = run([&] {
      CollectiveProgram program("p", AllReduce(3, 1, false), {.doubleScratch = isDouble});
      chunk(0, BufferType::Input, 0).putPackets(1, BufferType::Scratch, 5, {.sendtb = 0});
      const Buffer behind(1, 2);
      chunk(0, BufferType::Input, 0).putPackets(2, BufferType::Scratch, 3, {.sendtb = 0});
    });
    REQUIRE(outcome.program);
    CHECK(outcome.program->ranks[0].scratchChunks == (isDouble ? 6 : 0));
    CHECK(outcome.program->ranks[1].scratchChunks == 8);
    CHECK(outcome.program->ranks[2].scratchChunks == (isDouble ? 6 : 4));
  }
}
