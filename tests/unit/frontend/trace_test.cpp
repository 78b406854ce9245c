// Tests recordings that are full, truncated or damaged. They must lead to an error at worst.
#include "frontend/dsl/include/mscclc/chunks.hpp"
#include "frontend/trace/trace.h"

#include "ported_programs.h"
#include "recorded.h"

#include <cstdlib>
#include <cstring>
#include <random>

using namespace mscclc;
using namespace mscclc::frontend;

TEST_CASE("a full region is reported and never overrun") {
  static bool called;
  called = false;
  std::vector<std::byte> region(4096 + 64, std::byte{0x5a});
  startRecording(std::span(region).first(4096), {.onFull = [] { called = true; }});
  {
    CollectiveProgram program("p", TestCollective(2, 1, 1));
    for (int i = 0; i < 1000; ++i)
      Rank(0).barrier({0, 1});
  }
  CHECK(finishRecording() <= 4096);
  CHECK(called);
  for (std::size_t i = 4096; i < region.size(); ++i)
    CHECK(region[i] == std::byte{0x5a});
  const Outcome outcome = build(std::span(region).first(4096));
  CHECK(outcome.text("recording_full", 0) ==
        "the algorithm records more than 0 MiB of operations; --trace-memory sets the limit");
}

TEST_CASE("nothing is recorded before and after a recording") {
  {
    CollectiveProgram program("before", TestCollective(2, 1, 1));
  }
  CHECK(run([] {}).text("no_program", 0) == "the algorithm makes no CollectiveProgram");
}

TEST_CASE("a recording that is cut off is no program") {
  const std::vector<std::byte> whole = trace(ported::tables);
  for (std::size_t size = 0; size < whole.size(); size += 1 + size / 16) {
    const Outcome outcome = build(std::span(whole).first(size));
    CHECK_FALSE(outcome.program);
    CHECK(outcome.text("recording_damaged", 0).starts_with("the algorithm has overwritten its own recording"));
  }
}

TEST_CASE("a recording that goes on is checked as far as it is") {
  std::vector<std::byte> region(1 << 16);
  const auto errors = [&] {
    ir::DiagnosticEngine diagnostics;
    checkUnfinished(region, {}, diagnostics);
    return diagnostics.numErrors();
  };
  CHECK(errors() == 0);
  startRecording(region);
  CHECK(errors() == 0);
  CollectiveProgram program("p", TestCollective(2, 1, 1));
  PipelineLoop loop(1, 1);
  CHECK(errors() == 0);
  Rank(5);
  CHECK(errors() == 1);
  Rank(0).barrier({0, 0});
  CHECK(errors() == 2);
  TraceHeader header;
  std::memcpy(&header, region.data(), sizeof header);
  finishRecording();
  std::uint64_t before = 0;
  for (std::uint64_t size = 0; size <= header.size; ++size) {
    std::memcpy(region.data() + offsetof(TraceHeader, size), &size, sizeof size);
    CHECK(errors() >= before);
    before = errors();
  }
  CHECK(before == 2);
}

TEST_CASE("a group cannot ask for any amount of memory") {
  std::vector<std::byte> recording = trace(
      [] {
        CollectiveProgram program("p", TestCollective(1, 2, 1));
        std::vector<int> blocks(4096);
        for (int i = 0; i < 4096; ++i)
          blocks[static_cast<std::size_t>(i)] = i;
        const std::vector<Chunk> others(60000, Rank(0).input()[0]);
        for (int i = 0; i < 4; ++i)
          Rank(0).reduce(Rank(0).input()[1], others, ThreadBlockGroup(blocks));
      },
      8 << 20);
  CHECK(build(recording).text("program_too_large", 0) ==
        "the program is too large: its operations take more than 8 GiB");
}

TEST_CASE("a damaged recording never does more than fail") {
  std::vector<std::vector<std::byte>> recordings;
  for (void (*algorithm)() : {ported::tables, ported::allreducePipeline, ported::switchReduce, ported::groupReduceSend})
    recordings.push_back(trace(algorithm));
  recordings.push_back(trace([] {
    CustomCollective own("own", 2, 2, 2);
    own.expect(0, 0, {{0, 0}, {1, 1}});
    CollectiveProgram program("p", own);
    Rank(5).copy(Rank(0).output()[7], Rank(0).input()[0], tb(-1));
  }));
  recordings.push_back(trace([] {
    CollectiveProgram program("p", TestCollective(4, 2, 2), {.schedule = Schedule::Auto, .ranksPerNode = 2});
    const Buffer scratch(1, 2);
    const auto in = [](int rank) { return Rank(rank).input()[0]; };
    copy({scratch[1], Rank(2).output()[0]}, in(0), {.via = Via::Port, .by = 2, .on = tb(3), .packets = true});
    reduce(scratch[0], {in(0), in(3)}, {.op = ReduceOp::Max});
    copy(Rank(1).output()[1], scratch[0]);
  }));
  for (const Schedule schedule : {Schedule::Manual, Schedule::Auto})
    recordings.push_back(trace([&] {
      CollectiveProgram program("p", AllReduce(2, 2, true), {.schedule = schedule});
      const ChunkOptions options = schedule == Schedule::Auto ? ChunkOptions() : ChunkOptions{.sendtb = 0, .recvtb = 0};
      const ChunkRef sent = chunk(0, BufferType::Input, 0, 2);
      ChunkRef sum = chunk(1, BufferType::Input, 0, 2);
      sum.reduce(sent.put(1, BufferType::Scratch, 2, options), {options.sendtb, options.recvtb})
          .copy(1, BufferType::Scratch, 0, options);
      chunk(1, BufferType::Input, 2)
          .putPackets(0, BufferType::Scratch, 0, options)
          .copyPackets(0, BufferType::Output, 2, options);
    }));
  const char *const more = std::getenv("MSCCLC_FUZZ_RUNS");
  const int runs = more ? std::atoi(more) : 3000;
  for (int seed = 0; seed < runs; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(static_cast<std::uint32_t>(seed));
    std::vector<std::byte> recording = recordings[random() % recordings.size()];
    for (std::uint32_t i = 0, changes = 1 + random() % 8; i < changes; ++i) {
      const std::size_t at = random() % recording.size();
      constexpr std::uint32_t values[] = {0, 1, 0x7f, 0x80, 0xfe, 0xff};
      switch (random() % 3) {
      case 0:
        recording[at] = static_cast<std::byte>(random());
        break;
      case 1:
        recording[at] = static_cast<std::byte>(values[random() % std::size(values)]);
        break;
      default: { // a record's worth of another place
        const std::size_t from = random() % recording.size() & ~std::size_t{7}, to = at & ~std::size_t{7};
        const std::size_t size = std::min({recording.size() - from, recording.size() - to, std::size_t{24}});
        std::memmove(recording.data() + to, recording.data() + from, size);
      }
      }
    }
    const Outcome outcome = build(recording);
    CHECK(outcome.program.has_value() == !outcome.diagnostics.hasErrors());
    ir::DiagnosticEngine diagnostics;
    checkUnfinished(recording, {}, diagnostics);
    CHECK(diagnostics.numErrors() <= outcome.diagnostics.numErrors());
  }
}
