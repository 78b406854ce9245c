// Tests runs of programs of rows: the counts that --counts says, and what a run finds.
#include "../passes-verify/prove.h"

#include "passes/simulate/rows.h"
#include "passes/simulate/simulate.h"

using namespace plan;
using namespace mscclc::passes;

namespace {

/// Rank 0 has what two ranks send, and hands on what goes to rank 1 through scratch. `port`: through a port.
Plan gathered(RowLayout layout, bool port) {
  Plan p(CollectiveKind::AllToAllV, 2, 2, 2, false, 2);
  p.program.collective.rows = layout;
  p.connectAll();
  p.connectAll(ChannelType::Port);
  Block a = p.on(0), b = p.on(1);
  b.relaxedSignal({0}).relaxedWait({0}).nop();
  b.remote(OpKind::Put, {b.of(0, BufferKind::Output, 1)}, {in(0)});
  b.remote(OpKind::Put, {b.of(0, BufferKind::Scratch, 1)}, {in(1)}).nop().signal({0});
  a.relaxedSignal({0}).relaxedWait({0}).copy(out(0), in(0)).copy(scratch(0), in(1)).wait({0}).nop();
  if (port) {
    a.remote(OpKind::PutWithSignal, {a.of(1, BufferKind::Output, 0, 2, ChannelType::Port)}, {scratch(0, 2)},
             ChannelType::Port, {0});
    a.flush({0});
    b.wait({0}, ChannelType::Port);
  } else {
    a.remote(OpKind::Put, {a.of(1, BufferKind::Output, 0, 2)}, {scratch(0, 2)}).nop().signal({0});
    b.wait({0});
  }
  return p;
}

std::string run(const Program &program, const RowSlots &rows, const RowCounts &counts, DataType type = DataType::I32) {
  DiagnosticEngine diags;
  SimulateOptions options;
  options.type = type;
  options.schedules = 60;
  options.rows = &rows;
  options.counts = counts;
  simulate(program, diags, options);
  return diags.render(false);
}

RowCounts counts(std::string_view text) {
  const auto parsed = RowCounts::parse(text);
  REQUIRE(parsed);
  return *parsed;
}

std::string faultOf(std::string_view text, std::uint32_t ranks = 2) {
  std::string fault;
  RowCounts::ofTable(text, ranks, fault);
  return fault;
}

} // namespace

TEST_CASE("programs of rows run right with all counts") {
  for (const RowLayout layout : {RowLayout::Padded, RowLayout::Packed})
    for (const bool port : {false, true}) {
      const Program program = gathered(layout, port).program;
      const Proof proof = prove(program);
      INFO(proof.text);
      REQUIRE(proof.result.proven);
      CHECK(run(program, proof.result.rows, {}) == "");
      for (const char *text : {"zero", "full", "over", "random:7", "uniform:1", "uniform:3", "zipf:1.2"})
        CHECK(run(program, proof.result.rows, counts(text)) == "");
      std::string fault;
      const RowCounts table = RowCounts::ofTable("-5, 9223372036854775807\n2 1\n", 2, fault);
      CHECK(fault == "");
      CHECK(run(program, proof.result.rows, table) == "");
    }
}

TEST_CASE("programs with experts run right with all indices") {
  for (const CollectiveKind kind : {CollectiveKind::Dispatch, CollectiveKind::Combine})
    for (const ExpertLayout layout : {ExpertLayout::ExpertMajor, ExpertLayout::RankMajor})
      for (const DataType type : {DataType::F32, DataType::BF16, DataType::F16, DataType::F8E4M3}) {
        Program program = gathered(RowLayout::Padded, false).program;
        program.collective.kind = kind;
        program.collective.experts = 3;
        program.collective.expertLayout = layout;
        const Proof proof = prove(program);
        INFO(proof.text);
        REQUIRE(proof.result.proven);
        if (kind == CollectiveKind::Dispatch && layout == ExpertLayout::RankMajor)
          program.oncePerRank = OncePerRank::On;
        CHECK(run(program, proof.result.rows, {}, type) == "");
        for (const char *text : {"zero", "full", "over", "random:7", "zipf:1.2"})
          CHECK(run(program, proof.result.rows, counts(text), type) == "");
      }
}

TEST_CASE("a run finds rows that are moved with the count of another slot") {
  const Program program = gathered(RowLayout::Packed, false).program;
  RowSlots rows = prove(program).result.rows;
  rows.set({0, 0, 6}, 0, 0, {1, 1}); // of what rank 0 hands on
  CHECK(run(program, rows, counts("random:3")).find("error: ") != std::string::npos);
  CHECK(run(program, rows, counts("full")).find("error: ") != std::string::npos);
}

TEST_CASE("a run finds what the proof refuses") {
  const Program program = gathered(RowLayout::Packed, false).program;
  const RowSlots rows = prove(program).result.rows;
  const auto changed = [&](std::uint32_t rank, std::uint32_t op, OpKind kind) {
    Program relaxed = program;
    relaxed.ranks[rank].blocks[0].ops[op].kind = kind;
    return relaxed;
  };
  for (const Program &relaxed : {changed(0, 4, OpKind::RelaxedWait), changed(1, 6, OpKind::RelaxedSignal)}) {
    CHECK(prove(relaxed).has("race"));
    CHECK(run(relaxed, rows, counts("full")).find("error: ") != std::string::npos);
  }
}

TEST_CASE("words for counts") {
  CHECK(counts("zero").of(1, 0, 4, 2, 3, 9) == 0);
  CHECK(counts("full").of(1, 0, 4, 2, 3, 9) == 9);
  CHECK(counts("over").of(1, 0, 4, 2, 3, 9) == 10);
  CHECK(counts("uniform:12").of(1, 0, 4, 2, 3, 9) == 12);
  CHECK(counts("zipf:0").of(1, 0, 4, 2, 3, 9) == 9);
  CHECK(counts("zipf:1").of(1, 0, 4, 2, 3, 8) == 2);
  CHECK(counts("random:1").of(1, 0, 4, 2, 3, 9) == counts("random:1").of(2, 0, 4, 2, 3, 9));
  for (const char *text : {"", "none", "full:1", "zero:", "random", "random:", "random:x", "random:-1", "uniform:1.5",
                           "uniform:18446744073709551615", "zipf:-1", "zipf:nan", "zipf:inf", "zipf:1x", "Full"})
    CHECK_FALSE(RowCounts::parse(text));
}

TEST_CASE("rows that go once to each rank") {
  Program program = Plan(CollectiveKind::Dispatch, 8, 8, 8, false, 8).program;
  program.collective.experts = 32;
  constexpr std::uint64_t capacity = 32 * 64;
  CHECK(counts("uniform:4").liveRows(program, 1, 2, capacity) == 128);
  CHECK(counts("uniform:4").entries(program, 1, capacity) == 1024);
  // 128 rows of 8 among 256 experts. None is among 32 of them with probability 224/256 · 223/255 · … = 0.338.
  CHECK(counts("uniform:4").liveRows(program, 1, 2, capacity, 8) == 85);
  CHECK(counts("uniform:4").liveRows(program, 1, 2, capacity, 1) == 128);
  CHECK(counts("uniform:4").liveRows(program, 1, 2, capacity, 256) == 4); // to all of them
  CHECK(counts("zero").liveRows(program, 1, 2, capacity, 8) == 0);
  std::string fault, table; // all to rank 0, and then all but one
  for (int rank = 0; rank < 8; ++rank, table += "\n")
    for (int expert = 0; expert < 256; ++expert)
      table += expert < 32 ? "4 " : rank == 1 && expert == 255 ? "1 " : "0 ";
  const RowCounts skewed = RowCounts::ofTable(table, 8, fault, 256);
  CHECK(fault == "");
  CHECK(skewed.liveRows(program, 0, 0, capacity, 8) == 16);
  CHECK(skewed.liveRows(program, 0, 1, capacity, 8) == 0);
  CHECK(skewed.liveRows(program, 1, 7, capacity, 8) == 1);
}

TEST_CASE("mixtures have all kinds of counts") {
  const RowCounts mixed;
  bool none = false, full = false, over = false, negative = false, some = false;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::int64_t count = mixed.of(seed, 0, 2, 0, 1, 5);
    none |= count == 0, full |= count == 5, over |= count == 6, negative |= count < 0, some |= count > 0 && count < 5;
    CHECK(count <= 6);
  }
  CHECK((none && full && over && negative && some));
}

TEST_CASE("tables of counts") {
  CHECK(faultOf("1 2\n3 4\n") == "");
  CHECK(faultOf("\n1,2\r\n\n3\t-4") == "");
  CHECK(faultOf("") == "it has 0 lines, not one for each of 2 ranks");
  CHECK(faultOf("1 2\n") == "it has 1 line, not one for each of 2 ranks");
  CHECK(faultOf("1 2\n3 4\n5 6\n") == "line 3: there are only 2 ranks");
  CHECK(faultOf("1 2\n3\n") == "line 2: it has 1 count, not one for each of 2 ranks");
  CHECK(faultOf("1 2 3\n") == "line 1: it has 3 counts, not one for each of 2 ranks");
  std::string fault;
  CHECK(RowCounts::ofTable("1 2 3\n4 5 6\n", 2, fault, 3).of(1, 0, 3, 1, 2, 9) == 6);
  CHECK(fault == "");
  RowCounts::ofTable("1 2\n", 2, fault, 3);
  CHECK(fault == "line 1: it has 2 counts, not one for each of 3 experts");
  CHECK(faultOf("1 x\n") == "line 1: 'x' is no whole number of 64 bits");
  CHECK(faultOf("1 2.5\n") == "line 1: '2.5' is no whole number of 64 bits");
  CHECK(faultOf("1 9223372036854775808\n") == "line 1: '9223372036854775808' is no whole number of 64 bits");
  CHECK(faultOf(std::string_view("1 \0\n", 4)).starts_with("line 1: '"));
}
