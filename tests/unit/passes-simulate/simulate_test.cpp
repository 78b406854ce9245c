// Tests the simulator: right programs run right, wrong ones do not, and sizes follow the plan format.
#include "../passes-verify/algorithms.h"
#include "../passes-verify/prove.h"

#include "passes/simulate/simulate.h"

using namespace plan;
using namespace mscclc::passes;

namespace {
struct Run {
  SimulateResult result;
  std::string text;
};
Run simulated(const Program &program, const SimulateOptions &options = {}) {
  DiagnosticEngine diags;
  Run run{simulate(program, diags, options), ""};
  run.text = diags.render(false);
  return run;
}
} // namespace

TEST_CASE("right programs run right in every type") {
  for (const Named &named : all()) {
    if (named.name == "allReduceOneSlot") // its scratch takes 64 MiB
      continue;
    for (const std::string_view type : dataTypeNames()) {
      // Without double scratch a launch of another size writes where a slower rank still reads.
      const bool anySizes = named.name != "allReducePackets";
      const Run run =
          simulated(named.make().program, {.type = *parseDataType(type), .schedules = 30, .inTurn = anySizes});
      CAPTURE(named.name, type, run.text);
      CHECK(run.result.ok);
      CHECK(run.result.rows[0].maxError == 0);
    }
  }
}

TEST_CASE("min, max and products") {
  for (const auto op : {ReduceOp::Min, ReduceOp::Max, ReduceOp::Prod}) {
    Plan p = allReduce(3);
    for (Rank &rank : p.program.ranks)
      for (Op &o : rank.blocks[0].ops)
        if (o.kind == OpKind::ReadReduceSend)
          o.reduceOp = op;
    for (const std::string_view type : dataTypeNames()) {
      const Run run = simulated(p.program, {.type = *parseDataType(type), .schedules = 10});
      CAPTURE(type, run.text);
      CHECK(run.result.ok);
      CHECK(run.result.rows[0].maxError == 0);
    }
  }
}

TEST_CASE("a sum in the place of a product is seen in every type") {
  Plan p = allReduce(3);
  for (Rank &rank : p.program.ranks)
    for (Op &o : rank.blocks[0].ops)
      if (o.kind == OpKind::ReadReduceSend)
        o.reduceOp = &rank == &p.program.ranks[0] ? ReduceOp::Sum : ReduceOp::Prod;
  for (const std::string_view type : dataTypeNames()) {
    CAPTURE(type);
    CHECK_FALSE(simulated(p.program, {.type = *parseDataType(type), .schedules = 1}).result.ok);
  }
}

TEST_CASE("a reduce that is of no account does not say what the collective reduces with") {
  Plan p = allReduce(2);
  for (Rank &rank : p.program.ranks)
    rank.scratchChunks = 1;
  p.on(0)
      .nop()
      .reduce(scratch(0), {in(0), in(1)}, ReduceOp::Max)
      .nop()
      .reduce(scratch(0), {scratch(0), in(1)}, ReduceOp::Max);
  INFO(prove(p.program).text);
  CHECK(prove(p.program).result.proven);
  CHECK(simulated(p.program, {.type = DataType::I32, .schedules = 30}).result.ok);
}

TEST_CASE("each verified fault is one that some schedule shows") {
  for (const std::uint32_t op : {2u, 4u, 5u, 6u}) { // nop after the handshake, nop before the signal, signal, wait
    const Run run = simulated(without(allGather(3).program, 0, 0, op), {.sizes = {192}, .schedules = 2000});
    CAPTURE(op, run.text);
    CHECK_FALSE(run.result.ok);
  }
}

TEST_CASE("a wrong element is named, and a hang says who waits") {
  Plan p(CollectiveKind::SendRecv, 1, 2, 2);
  p.on(0).copy(out(0), in(0)).copy(out(1), in(0));
  const Run wrong = simulated(p.program, {.sizes = {32}, .type = DataType::U32, .schedules = 1});
  CHECK(wrong.text.find("schedule 1 of 1 at 32 bytes: launch 1 leaves ") != std::string::npos);
  CHECK(wrong.text.find(" in output[1] of rank 0, element 0; ") != std::string::npos);

  Plan q(CollectiveKind::Test, 2, 1, 1);
  q.connectAll();
  q.on(0).wait({0});
  CHECK(simulated(q.program, {.sizes = {16}, .schedules = 1})
            .text.find("rank 0, block 0, operation 0: error: schedule 1 of 1 at 16 bytes hangs: rank 0, block 0 waits "
                       "for memory "
                       "channel 0") != std::string::npos);
}

TEST_CASE("sizes that are refused, with the numbers") {
  const Program program = allReduce(3).program;
  CHECK(simulated(program, {.sizes = {100}})
            .text.find(
                "a message of 100 bytes cannot be run: it must be a multiple of 48 bytes, 3 chunks of 16 bytes each; "
                "96 and 144 are the nearest") != std::string::npos);
  CHECK(simulated(program, {.sizes = {16}}).text.find("16 bytes each; 48 is the least") != std::string::npos);
  CHECK(simulated(program, {.sizes = {16}}).result.table().find("refused") != std::string::npos);
  Program limited = program;
  limited.maxMessageSize = 1000;
  CHECK(simulated(limited, {.sizes = {4800}}).text.find("the program takes 0 to 1000 bytes") != std::string::npos);
  CHECK(simulated(program, {.sizes = {48ull << 30}})
            .text.find("the buffers of all ranks take more than the 4 GiB that are set aside here") !=
        std::string::npos);
}

TEST_CASE("slices of a group that the chunk does not divide by") {
  CHECK(simulated(allGatherGroup(2, 3).program, {.sizes = {2 * 16 * 7}, .schedules = 50}).result.ok);
}

TEST_CASE("packets in a scratch buffer without room for them") {
  Plan p(CollectiveKind::Test, 1, 1, 1, false, 1);
  p.on(0).remote(OpKind::CopyPacket, {scratch(0)}, {in(0)}, ChannelType::None);
  CHECK(simulated(p.program, {.sizes = {16}, .schedules = 1})
            .text.find("schedule 1 of 1 at 16 bytes: this operation reaches past the end of a buffer") !=
        std::string::npos);
}

TEST_CASE("the same seed gives the same schedules") {
  const Program program = without(allGather(3).program, 0, 0, 4);
  const SimulateOptions options{.sizes = {192}, .schedules = 2000, .seed = 7};
  CHECK(simulated(program, options).text == simulated(program, options).text);
}

TEST_CASE("the table, and progress that stops a run") {
  std::uint32_t calls = 0;
  SimulateOptions options{.sizes = {48}, .schedules = 10};
  CHECK(simulated(allReduce(3).program, options).result.table() ==
        "        size  schedules  max error  ok\n          48         10          0  yes\n");
  options.progress = [&](double part) { return ++calls < 3 && part > 0; };
  CHECK(simulated(allReduce(3).program, options).result.rows[0].schedules == 3);
}

TEST_CASE("a long schedule says how far it is, and may be stopped") {
  std::vector<double> parts;
  SimulateOptions options{.sizes = {8 * 65536}, .schedules = 1, .launches = 200};
  options.progress = [&](double part) {
    parts.push_back(part);
    return true;
  };
  const Program program = allReducePackets(8, true).program;
  CHECK(simulated(program, options).result.ok);
  CHECK(parts.size() > 3);
  CHECK(std::ranges::is_sorted(parts));
  CHECK(parts.back() == 1);
  options.progress = [&](double part) { return part < 0.1; };
  const SimulateRow stopped = simulated(program, options).result.rows[0];
  CHECK(stopped.schedules == 0);
}

TEST_CASE("threads that wait for a packet are woken by that one alone") {
  // One block writes what many wait for, a packet of each at a time.
  constexpr std::uint32_t readers = 64, chunks = 4 * readers;
  Plan p(CollectiveKind::Test, 2, chunks, chunks, false, chunks);
  p.program.protocol = Protocol::LL;
  p.channel(0, 1);
  p.channel(1, 0);
  Block writer = p.on(0);
  for (std::uint32_t c = 0; c < chunks; ++c) {
    writer.remote(OpKind::PutPacket, {writer.of(1, BufferKind::Scratch, c)}, {in(c)});
    p.on(1, c % readers).remote(OpKind::UnpackPacket, {out(c)}, {scratch(c)}, ChannelType::None);
  }
  std::uint32_t calls = 0; // each but the last after 16,384 steps
  SimulateOptions options{.sizes = {chunks * 1024}, .schedules = 1, .launches = 1};
  options.progress = [&](double) { return ++calls != 0; };
  CHECK(simulated(p.program, options).result.ok);
  CHECK(calls == 1);
}

TEST_CASE("a sum of very many narrow numbers is exact, in any order") {
  constexpr std::uint32_t many = 600; // more than the 256 that bf16 counts to
  Plan p(CollectiveKind::Custom, 1, many, 1);
  Chunks sources;
  Expectation all{0, 0, {}, noLoc};
  for (std::uint32_t c = many; c-- > 0;)
    sources.push_back(in(c));
  for (std::uint32_t c = 0; c < many; ++c)
    all.contributions.push_back({0, c});
  p.program.collective.expectations = {all};
  p.on(0).reduce(out(0), sources);
  for (const auto type : {DataType::BF16, DataType::F16})
    CHECK(simulated(p.program, {.type = type, .schedules = 3}).result.ok);
  p.program.ranks[0].blocks[0].ops[0].numSrcs -= 1; // one is missing: the destination is then the last source
  p.program.ranks[0].blocks[0].chunks[many - 1] = out(0);
  CHECK_FALSE(simulated(p.program, {.type = DataType::BF16, .schedules = 3}).result.ok);
}

TEST_CASE("long messages are run under fewer schedules, unless they are asked for") {
  const Program program = allReduce(2).program;
  const auto schedules = [&](const SimulateOptions &options) {
    return simulated(program, options).result.rows[0].schedules;
  };
  CHECK(schedules({.sizes = {32}}) == 100);
  CHECK(schedules({.sizes = {4 << 20}}) == 25);
  CHECK(schedules({.sizes = {4 << 20}, .schedules = 2}) == 2);
}

TEST_CASE("a launch of 0 bytes between others is none") {
  // Each rank sends one packet and waits for one, so it may be a launch ahead of the other. Two launches in a row have
  // to use different halves of the scratch: if the one of 0 bytes between them counted, the second would overwrite what
  // the slower rank has not read.
  Plan p(CollectiveKind::AllGather, 2, 1, 2, true, 1);
  p.program.protocol = Protocol::LL;
  p.program.doubleScratch = true;
  p.connectAll();
  for (const std::uint32_t r : {0u, 1u}) {
    Block b = p.on(r);
    b.remote(OpKind::PutPacket, {b.of(1 - r, BufferKind::Scratch, 0)}, {out(r)});
    b.remote(OpKind::UnpackPacket, {out(1 - r)}, {scratch(0)}, ChannelType::None);
  }
  const auto [result, text] = simulated(p.program, {.sizes = {0, 64}, .schedules = 50});
  CHECK(text == "");
  REQUIRE(result.rows.size() == 2);
  CHECK(result.rows[0].size == 64);
  CHECK((result.rows[1].inTurn && result.rows[1].schedules == 50 && result.rows[1].ok));
  CHECK(simulated(allReduce(2).program, {.sizes = {0}}).text ==
        "by hand: error: a message of 0 bytes cannot be run: a launch of 0 bytes is none, so it runs nothing; "
        "32 is the least [size-refused]\n1 error generated.\n");
}
