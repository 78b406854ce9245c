// Tests programs for which one run cannot represent all, and the warnings.
#include "algorithms.h"
#include "prove.h"

#include "passes/simulate/simulate.h"

using namespace plan;

TEST_CASE("two blocks acquire one semaphore") {
  const auto make = [](bool early) {
    Plan p(CollectiveKind::Test, 1, 2, 2);
    p.semaphore(0);
    p.on(0, 0).release({0});
    if (early)
      p.on(0, 0).release({0});
    p.on(0, 1).acquire({0});
    p.on(0, 2).acquire({0});
    if (!early) // the second release comes only behind one of the acquires
      p.on(0, 1).nop().release({0});
    return p.program;
  };
  CHECK(prove(make(true)).result.proven);
  CHECK(prove(make(false))
            .says("rank 0, block 1, operation 0: error: not proven: semaphore 0 of rank 0 is acquired by thread blocks "
                  "1 and 2; their order "
                  "is not fixed, and 1 of 2 releases only come after one of them has it"));
}

TEST_CASE("several blocks release one semaphore: only what is certain counts") {
  const auto make = [](std::uint32_t acquires) {
    Plan p(CollectiveKind::Test, 1, 3, 3);
    p.semaphore(0);
    for (std::uint32_t t = 0; t < 2; ++t)
      p.on(0, t).copy(out(t), in(t)).nop().release({0});
    Block c = p.on(0, 2);
    for (std::uint32_t i = 0; i < acquires; ++i)
      c.acquire({0});
    c.nop().copy(in(0), out(0));
    for (std::uint32_t i = acquires; i < 2; ++i)
      c.acquire({0});
    return p.program;
  };
  CHECK(prove(make(2)).result.proven);
  CHECK(prove(make(1)).has("race"));
}

TEST_CASE("two blocks wait on one channel") {
  const auto make = [](bool ordered) {
    Plan p(CollectiveKind::Test, 2, 1, 1);
    p.connectAll();
    p.on(1).signal({0}).signal({0});
    p.on(0, 0).wait({0});
    if (ordered)
      p.on(0, 0).nop().barrier(0, 2);
    if (ordered)
      p.on(0, 1).barrier(0, 2);
    p.on(0, 1).wait({0});
    return p.program;
  };
  CHECK(prove(make(true)).result.proven);
  const Proof proof = prove(make(false));
  INFO(proof.text);
  CHECK(proof.says("rank 0, block 1, operation 0: error: memory channel 0 of rank 0 (to rank 1) is waited on by thread "
                   "blocks 0 and 1, and no sync orders them"));
  CHECK(proof.says("rank 0, block 0, operation 0: note: waited on here"));
}

TEST_CASE("two threads of a block wait on one channel") {
  // Thread 0 waits on the first channel of an operation, thread 1 on the second.
  const auto make = [](bool apart, Ids second) {
    Plan p(CollectiveKind::Test, 3, 1, 1);
    p.connectAll(); // rank 0's channel 0 leads to rank 1, 1 to rank 2
    p.on(0).wait({0});
    if (apart)
      p.on(0).nop();
    p.on(0).relaxedSignal({0}).wait(second);
    p.on(1).signal({0}).relaxedWait({0}).nop().signal({0});
    p.on(2).signal({0});
    return p.program;
  };
  CHECK(prove(make(false, {0, 1})).result.proven);
  CHECK(prove(make(true, {1, 0})).result.proven);
  const Program wrong = make(false, {1, 0});
  const Proof proof = prove(wrong);
  CHECK(
      proof.says("rank 0, block 0, operation 2: error: two threads of the block wait on memory channel 0 of rank 0 "
                 "(to rank 1) at once, as it is number 2 of what this waits for and number 1 of what the other does"));
  CHECK(proof.says("rank 0, block 0, operation 0: note: waited on here"));
  DiagnosticEngine diags; // thread 1 takes the first signal, and thread 0 never gets to its own
  CHECK_FALSE(mscclc::passes::simulate(wrong, diags, {.schedules = 200}).ok);

  Plan loop(CollectiveKind::Test, 3, 1, 1);
  loop.connectAll();
  loop.on(0).pipeline(16, 1, 3).wait({0, 1}).relaxedSignal({0}).wait({1, 0});
  CHECK(prove(loop.program).says("operation 3: error: two threads of the block wait on memory channel 1"));
  loop.program.ranks[0].blocks[0].ops.insert(loop.program.ranks[0].blocks[0].ops.begin() + 2, {.kind = OpKind::Nop});
  loop.program.ranks[0].blocks[0].ops[0].bodySize = 4; // apart in an iteration, but not from the next one
  CHECK(prove(loop.program).says("operation 1: error: two threads of the block wait on memory channel 0"));
}

TEST_CASE("two threads of a block acquire one semaphore") {
  const auto make = [](bool between) {
    Plan p(CollectiveKind::Test, 1, 1, 1);
    for (int i = 0; i < 3; ++i)
      p.semaphore(0);
    p.on(0, 0).acquire({0});
    if (between)
      p.on(0, 0).release({2});
    p.on(0, 0).acquire({1, 0});
    p.on(0, 1).release({0}).release({1});
    if (between)
      p.on(0, 1).acquire({2});
    p.on(0, 1).nop().release({0});
    return p.program;
  };
  CHECK(prove(make(false)).result.proven);
  CHECK(prove(make(true)).says("rank 0, block 0, operation 2: error: two threads of the block wait on semaphore 0"));
  DiagnosticEngine diags;
  CHECK(mscclc::passes::simulate(make(false), diags, {.schedules = 200}).ok);
  CHECK_FALSE(mscclc::passes::simulate(make(true), diags, {.schedules = 200}).ok);
}

TEST_CASE("a thread that acquires again hides no other one") {
  Plan p(CollectiveKind::Test, 1, 1, 1);
  for (int i = 0; i < 2; ++i)
    p.semaphore(0);
  p.on(0, 0).acquire({0}).release({1}).acquire({0, 0});
  p.on(0, 1).release({0}).acquire({1}).nop().release({0, 0});
  CHECK(prove(p.program).says("rank 0, block 0, operation 2: error: two threads of the block wait on semaphore 0"));
  DiagnosticEngine diags; // thread 1 takes the first, and thread 0 never releases
  CHECK_FALSE(mscclc::passes::simulate(p.program, diags, {.schedules = 200}).ok);
}

TEST_CASE("sizes that cannot be laid out") {
  Plan groups(CollectiveKind::Test, 1, 1, 1);
  std::uint32_t t = 0;
  for (const std::uint32_t n : {7u, 11u, 13u, 17u, 19u})
    groups.on(0, t++).copy(out(0), in(0)).slice(0, n);
  const Proof fine = prove(groups.program);
  CHECK(
      fine.says("rank 0: error: not proven: slices of groups and pipelines cut a chunk into 65537 parts or more") !=
      fine.says("operation 0: error: not proven: slices of groups and pipelines cut a chunk into 65537 parts or more"));
  CHECK(fine.says("parts or more; use group sizes and units that divide each other"));

  Plan wrap = allReducePipeline(3 << 20);
  wrap.program.reuseResources = true;
  CHECK(prove(wrap.program)
            .says("slices of 3145728 bytes do not divide a reused scratch chunk of 33554432 bytes: where "
                  "scratch wraps, a slice runs into the next chunk"));
  CHECK(prove(wrap.program).says("choose a unit that divides it, or limit messages to 67108864 bytes"));
  wrap.program.maxMessageSize = 64 << 20;
  CHECK(prove(wrap.program).result.proven);

  Plan huge(CollectiveKind::Test, 1, 4'000'000'000u, 1);
  CHECK(prove(huge.program).says("not proven: the buffers of all ranks have more than 67 million chunks"));
}

TEST_CASE("numbers as large as a plan can hold cost nothing") {
  constexpr std::uint32_t most = ~std::uint32_t{0};
  Plan p(CollectiveKind::Test, 1, 1, 1);
  const std::uint32_t semaphore = p.semaphore(0, most >> 1);
  p.on(0, 0).release({semaphore}).nop().barrier(most, 2);
  p.on(0, 1).acquire({semaphore}).nop().barrier(most, 2);
  CHECK(prove(p.program).result.proven);
  DiagnosticEngine diags;
  CHECK(mscclc::passes::simulate(p.program, diags, {.schedules = 2}).ok);

  Plan scratchOnly(CollectiveKind::Test, 2, 1, 1, false, most);
  CHECK(prove(scratchOnly.program).has("too_much_memory"));
  // Checks that keep something for each chunk come after that question.
  scratchOnly.program.protocol = Protocol::LL;
  for (std::uint32_t r = 0; r < 2; ++r)
    scratchOnly.on(r)
        .remote(OpKind::CopyPacket, {scratch(most - 1)}, {in(0)}, ChannelType::None)
        .copy(scratch(1), in(0))
        .slice(0, 2);
  CHECK(prove(scratchOnly.program).has("too_much_memory"));
  CHECK(!mscclc::passes::simulate(scratchOnly.program, diags, {.schedules = 2}).ok);
}

TEST_CASE("a pipeline too long to follow") {
  Plan p(CollectiveKind::Test, 1, 1, 1, false, 1);
  p.program.reuseResources = true;
  p.on(0).pipeline(2048, 1, 2000);
  for (int i = 0; i < 2000; ++i)
    p.on(0).copy(scratch(0), in(0));
  CHECK(prove(p.program).says("not proven: scratch slots repeat only after"));
}

TEST_CASE("a pipeline whose operations see little of what it spans") {
  constexpr std::uint32_t most = ~std::uint32_t{0};
  Plan p(CollectiveKind::Test, 1, 1, 1);
  p.on(0).pipeline(1, most, 1).copy(out(0), in(0));
  CHECK(prove(p.program).says(
      "rank 0, block 0, operation 0: error: not proven: pipelines must run 12884901885 times for each of "
      "their operations to see enough iterations, too many to follow; let operations move all chunks that "
      "their pipeline spans"));
  DiagnosticEngine diags;
  CHECK_FALSE(mscclc::passes::simulate(p.program, diags, {.schedules = 1}).ok);
  CHECK(diags.render(false).find("cannot be run: its pipelines make for more than the 50 million operations a launch "
                                 "that are run here") != std::string::npos);
}

TEST_CASE("operations on more chunks than can be followed") {
  constexpr std::uint32_t many = 30'000'000;
  Plan p(CollectiveKind::Test, 1, many, many);
  for (int i = 0; i < 100; ++i)
    p.on(0).copy(out(0, many), in(0, many)).nop();
  CHECK(prove(p.program).says("program 'by hand': error: not proven: a launch touches chunks, or parts of them, "
                              "6000000000 times, too often to follow"));
}

TEST_CASE("units of pipelines that no chunk is cut into") {
  Plan p(CollectiveKind::Test, 1, 1, 1);
  p.on(0).pipeline(std::uint64_t{1} << 63, 1, 1).copy(out(0), in(0));
  p.on(0).pipeline(3, 1, 1).copy(out(0), in(0));
  CHECK(prove(p.program).says("rank 0, block 0, operation 0: error: not proven: slices of groups and pipelines cut a "
                              "chunk into 65537 parts or more"));
}

TEST_CASE("pipelines over ranges that are shifted against each other") {
  Plan p(CollectiveKind::Test, 1, 3, 3);
  p.on(0, 0).pipeline(1024, 2, 1).copy(out(0, 2), in(0, 2));
  p.on(0, 1).pipeline(1024, 2, 1).copy(out(1, 2), in(1, 2));
  CHECK(
      prove(p.program).says("not proven: pipelines touch input[0:2] and input[1:3] of rank 0, which overlap but do not "
                            "begin together, so what meets depends on the message size"));
}

TEST_CASE("packets over plain data, and packets outside scratch") {
  Plan p(CollectiveKind::Test, 1, 1, 1, false, 4);
  p.program.protocol = Protocol::LL;
  p.on(0).remote(OpKind::CopyPacket, {scratch(1)}, {in(0)}, ChannelType::None).copy(scratch(2), in(0));
  CHECK(prove(p.program).says(
      "rank 0, block 0, operation 1: error: packet scratch[1] of rank 0 overlaps plain scratch[2], "
      "which is written as plain data"));
  Plan q(CollectiveKind::Test, 1, 1, 1, false, 1);
  q.on(0).remote(OpKind::CopyPacket, {scratch(0)}, {in(0)}, ChannelType::None);
  CHECK(
      prove(q.program).says("packet scratch[0] of rank 0 takes twice the room of a chunk and lies outside the scratch "
                            "buffer of 1 chunk under protocol Simple"));
}

TEST_CASE("errors that may be allowed are warnings then, and nothing else is") {
  Plan p = allReduceSwitch(2);
  for (Rank &rank : p.program.ranks)
    for (Op &op : rank.blocks[0].ops) {
      op.kind = op.kind == OpKind::Signal ? OpKind::RelaxedSignal : op.kind;
      op.kind = op.kind == OpKind::Wait ? OpKind::RelaxedWait : op.kind;
    }
  const std::string relaxedData =
      "rank 0 learns that output[1] of rank 0 is written only by a relaxed signal; it orders, "
      "but makes no data visible [--allow=relaxed-data]";
  const Proof relaxed = prove(p.program, {}, {"unflushed-source"});
  CHECK_FALSE(relaxed.result.proven);
  CHECK(relaxed.result.errors == 2);
  CHECK(relaxed.result.warnings == 0);
  CHECK(relaxed.says("error: " + relaxedData));
  const Proof allowed = prove(p.program, {}, {"relaxed-data"});
  CHECK(allowed.result.proven);
  CHECK(allowed.result.errors == 0);
  CHECK(allowed.result.warnings == 2);
  CHECK(allowed.says("warning: " + relaxedData));
  CHECK(prove(p.program, {.warnings = false}, {"relaxed-data"}).text.empty());

  Plan port = sendPort(3);
  for (Rank &rank : port.program.ranks)
    std::erase_if(rank.blocks[0].ops, [](const Op &op) { return op.kind == OpKind::Flush; });
  const std::string unflushed = "rank 0 may end its launch while the port still reads input[0] of rank 0: without a "
                                "flush, its user may not overwrite it then [--allow=unflushed-source]";
  CHECK(prove(port.program).says("error: " + unflushed));
  CHECK_FALSE(prove(port.program).result.proven);
  CHECK(prove(port.program, {}, {"unflushed-source"}).says("warning: " + unflushed));
  CHECK(prove(port.program, {}, {"unflushed-source"}).result.proven);
}

TEST_CASE("warnings: legal, but fragile") {
  Plan idle(CollectiveKind::Test, 2, 1, 1);
  idle.channel(0, 1);
  idle.semaphore(0, 2);
  idle.on(0).nop().nop();
  const Proof unused = prove(idle.program);
  CHECK(unused.says("memory channel 0 of rank 0 (to rank 1) has no other end and no use"));
  CHECK(unused.says("semaphore 0 of rank 0 starts at 2, but nothing acquires it"));
  CHECK(unused.says("rank 0, block 0, operation 1: warning: this nop orders nothing: it stands directly after a nop"));

  DiagnosticEngine quiet;
  CHECK(mscclc::passes::verify(idle.program, quiet, {.warnings = false}).warnings == unused.result.warnings);
  CHECK(unused.result.warnings == 3);
  CHECK(quiet.all().empty());
  idle.semaphore(0, 1);
  idle.semaphore(0, 1);
  const Proof more = prove(idle.program);
  CHECK(more.says("semaphore 0 of rank 0 starts at 2, but nothing acquires it, nor any of 2 more of the rank"));
  CHECK(more.result.warnings == 3);
}
