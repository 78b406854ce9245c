// What holds at every message size, in launches of different sizes, and for users who overwrite their buffers.
#include "algorithms.h"
#include "prove.h"

#include "passes/verify/slicing.h"

using namespace plan;

namespace {

/// Slices of scratch[0:2], `parts` of them; another block then reads `chunk` having heard of those in `heard`.
Program slicesMetByChunk(std::uint32_t parts, std::uint32_t chunk, const Ids &heard) {
  Plan p(CollectiveKind::Custom, 1, 2, 1, false, 2);
  p.program.collective.expectations = {{0, 0, {{0, chunk}}, noLoc}};
  Ids semaphores;
  for (std::uint32_t t = 0; t < parts; ++t) {
    p.on(0, t).copy(scratch(0, 2), in(0, 2)).slice(t, parts);
    if (std::find(heard.begin(), heard.end(), t) == heard.end())
      continue;
    semaphores.push_back(p.semaphore(0));
    p.on(0, t).nop().release({semaphores.back()});
  }
  p.on(0, parts).acquire(semaphores).nop().copy(out(0), scratch(chunk));
  return p.program;
}

std::vector<std::uint32_t> unitsOf(const Program &program) {
  std::vector<std::uint32_t> units;
  for (const auto &size : mscclc::passes::proof::sliceSizes(mscclc::passes::proof::ProgramIndex(program)).sizes)
    units.push_back(size.units);
  std::sort(units.begin(), units.end());
  return units;
}

/// Rank 0 uses scratch[0] for itself, then hands scratch[1] to rank 1, which gets it and tells nobody when it has.
Plan lentScratch() {
  Plan p(CollectiveKind::Custom, 2, 2, 1, false, 2);
  p.program.collective.expectations = {{0, 0, {{0, 0}}, noLoc}, {1, 0, {{0, 1}}, noLoc}};
  p.connectAll();
  Block a = p.on(0), b = p.on(1);
  a.copy(scratch(0), in(0)).nop().copy(out(0), scratch(0)).relaxedWait({0}).nop();
  a.copy(scratch(1), in(1)).nop().signal({0});
  b.relaxedSignal({0}).wait({0}).nop();
  b.remote(OpKind::Get, {out(0)}, {b.of(0, BufferKind::Scratch, 1)}, ChannelType::Memory, {0});
  return p;
}

} // namespace

TEST_CASE("slices that end inside chunks are proven at each size where they meet them differently") {
  // Of 2c units in four slices, the first two are the longer ones where c is odd; for c = 1 the others are empty.
  const Program four = slicesMetByChunk(4, 1, {2, 3});
  CHECK(unitsOf(four) == std::vector<std::uint32_t>{1, 3});
  const Proof proof = prove(four);
  CHECK(proof.says("race on scratch[1] of rank 0: the write ('copy') by rank 0, block 1 and the read ('copy') by rank "
                   "0, block 4 are not ordered"));
  CHECK(proof.says("operation 2: note: this is so if a chunk has 16 bytes, which slices do not divide evenly"));
  const Proof all = prove(slicesMetByChunk(4, 1, {1, 2, 3}));
  CHECK(all.result.proven);
  CHECK(all.result.unevenSizes == 2);
  CHECK(all.result.summary().find(", 3 ways in which slices meet") != std::string::npos);
  CHECK(prove(slicesMetByChunk(4, 0, {0, 1})).result.proven); // the first two are never too short
  CHECK(prove(slicesMetByChunk(3, 0, {0})).has("race"));      // nor is one of three enough
  CHECK(prove(slicesMetByChunk(3, 0, {0, 1})).result.proven);
  CHECK(prove(slicesMetByChunk(3, 1, {1, 2})).result.proven);
}

TEST_CASE("only sizes count that messages may have") {
  const Program four = slicesMetByChunk(4, 1, {2, 3});
  const auto provenAt = [&](std::uint64_t least, std::uint64_t most) {
    return prove(ofSize(four, least, most)).result.proven;
  };
  CHECK(provenAt(64, 64)); // two chunks of two units
  CHECK(unitsOf(ofSize(four, 64, 64)).empty());
  CHECK_FALSE(provenAt(96, 96));
  CHECK(unitsOf(ofSize(four, 96, 96)) == std::vector<std::uint32_t>{3});
  CHECK_FALSE(provenAt(64, 96));
  CHECK_FALSE(provenAt(32, 64));
  CHECK(unitsOf(ofSize(four, 32, 64)) == std::vector<std::uint32_t>{1});
  CHECK(unitsOf(ofSize(four, 160, 160)) == std::vector<std::uint32_t>{3}); // five units meet as three do
}

TEST_CASE("where all cut a range alike, or take it whole, any size does") {
  Plan p(CollectiveKind::Custom, 1, 1, 1, false, 1);
  p.program.collective.expectations = {{0, 0, {{0, 0}}, noLoc}};
  for (std::uint32_t t = 0; t < 3; ++t)
    p.on(0, t).copy(scratch(0), in(0)).slice(t, 3).nop().copy(out(0), scratch(0)).slice(t, 3);
  CHECK(unitsOf(p.program).empty());
  CHECK(prove(p.program).result.proven);
  // Halves meet thirds in three ways, besides those that divide evenly.
  Plan mixed(CollectiveKind::Test, 1, 1, 1);
  mixed.on(0, 0).copy(out(0), in(0)).slice(0, 2);
  mixed.on(0, 1).copy(out(0), in(0)).slice(2, 3);
  CHECK_FALSE(unitsOf(mixed.program).empty());
  CHECK(prove(mixed.program).result.proven); // a first half never reaches a last third
  mixed.on(0, 2).copy(out(0), in(0)).slice(1, 3);
  CHECK(prove(mixed.program).has("race"));
}

TEST_CASE("slices that meet in too many ways, and within pipelines, are not proven") {
  Plan p(CollectiveKind::Test, 1, 1, 1);
  p.on(0, 0).copy(out(0), in(0)).slice(0, 251);
  p.on(0, 1).copy(out(0), in(0)).slice(250, 256);
  CHECK(prove(p.program).says(
      "operation 0: error: not proven: slices of thread-block groups meet each other, and chunks, in too "
      "many ways over all message sizes; let all that touches a range of chunks cut it in the same slices, or "
      "whole ones"));
  Plan loop(CollectiveKind::Test, 1, 1, 1);
  loop.on(0, 0).pipeline(1024, 1, 1).copy(out(0), in(0)).slice(0, 2);
  loop.on(0, 1).pipeline(1024, 1, 1).copy(out(0), in(0)).slice(2, 3);
  CHECK(prove(loop.program)
            .says("operation 1: error: not proven: in a pipeline, slices of thread-block groups that do not divide "
                  "their chunks meet other slices or chunks; let all that touches a range of chunks cut it in the same "
                  "slices"));
}

TEST_CASE("at another message size, scratch lies elsewhere") {
  const Proof lent = prove(lentScratch().program);
  CHECK(lent.ids.front() == "size_change_race");
  CHECK(lent.says("rank 0, block 0, operation 0: error: launched again with another message size, it races on the "
                  "scratch of rank 0: the write by rank 0, block 0 of one launch and the read by rank 1, block 0 of an "
                  "earlier one are not ordered"));
  CHECK(prove(lentScratch().program, {.fixedScratch = true}).result.proven);
  CHECK(prove(lentScratch().program, {}, {"size-change"}).result.proven);
  CHECK(prove(ofSize(lentScratch().program, 64, 64)).result.proven);
  CHECK(prove(ofSize(lentScratch().program, 64, 95)).result.proven); // still one size: 96 would be the next
  CHECK(prove(ofSize(lentScratch().program, 64, 96)).has("size_change_race"));
  Plan twice = lentScratch(); // by the launch after the next, rank 1 has begun the next
  twice.program.doubleScratch = true;
  CHECK(prove(twice.program).result.proven);
  Plan told = lentScratch(); // rank 0 waits for rank 1 before it writes at all
  auto &ops = told.program.ranks[0].blocks[0].ops;
  std::rotate(ops.begin(), ops.begin() + 3, ops.begin() + 5);
  CHECK(prove(told.program).result.proven);
}

TEST_CASE("a port may still send from scratch where a launch of another size writes, until its rank tells of a flush") {
  enum Tells { BeforeFlush, AfterFlush, InSameLaunch };
  const auto make = [](Tells tells) {
    Plan p(CollectiveKind::Custom, 2, 1, 1, false, 2);
    p.program.collective.expectations = {{0, 0, {{1, 0}}, noLoc}};
    p.connectAll();
    const std::uint32_t port = p.channel(0, 1, ChannelType::Port);
    p.channel(1, 0, ChannelType::Port);
    Block a = p.on(0), b = p.on(1);
    if (tells == AfterFlush)
      a.flush({port}).nop();
    a.relaxedSignal({0});
    if (tells == BeforeFlush)
      a.flush({port});
    a.nop().copy(scratch(1), in(0)).nop();
    a.remote(OpKind::Put, {a.of(1, BufferKind::Scratch, 0, 1, ChannelType::Port)}, {scratch(1)}, ChannelType::Port,
             {port});
    a.wait({0}).nop().copy(out(0), scratch(0));
    b.relaxedWait({0}).nop().remote(OpKind::Put, {b.of(0, BufferKind::Scratch, 0)}, {in(0)}).nop().signal({0});
    p.on(1, 1).nop(); // what rank 1 was told in a launch, all its blocks know in the next
    if (tells == InSameLaunch)
      a.flush({port});
    if (tells != AfterFlush) {
      a.nop().signal({0});
      b.wait({0});
    }
    return p.program;
  };
  CHECK(prove(make(BeforeFlush)).has("size_change_race"));
  CHECK(prove(ofSize(make(BeforeFlush), 64, 64)).result.proven);
  CHECK(prove(make(AfterFlush)).result.proven);
  CHECK(prove(make(InSameLaunch)).result.proven);
}

TEST_CASE("a handshake at the start orders launches of all sizes, packets need the double scratch") {
  for (const std::uint32_t n : {2u, 3u, 4u}) {
    CHECK(prove(allReducePackets(n, true).program).result.proven);
    CHECK(prove(allReducePackets(n, false).program).has("size_change_race"));
    CHECK(prove(ofSize(allReducePackets(n, false).program, n * 64, n * 64)).result.proven);
    Plan p = allReducePackets(n, false);
    for (Rank &rank : p.program.ranks) { // all begin, and then all write
      const std::vector<Op> ops = std::exchange(rank.blocks[0].ops, {});
      const auto number = static_cast<std::uint32_t>(&rank - p.program.ranks.data());
      p.on(number).relaxedSignal(p.allChannels()).relaxedWait(p.allChannels()).nop();
      rank.blocks[0].ops.insert(rank.blocks[0].ops.end(), ops.begin(), ops.end());
    }
    CHECK(prove(p.program).result.proven);
  }
}

TEST_CASE("a port put that nobody waits for may land at another size") {
  const auto make = [](bool waited) {
    Plan p(CollectiveKind::Custom, 2, 1, 1, false, 2);
    p.program.collective.expectations = {{1, 0, {{1, 0}}, noLoc}};
    p.connectAll();
    p.connectAll(ChannelType::Port);
    Block a = p.on(0), b = p.on(1);
    a.relaxedWait({0}).nop();
    a.remote(OpKind::Put, {a.of(1, BufferKind::Scratch, 0, 1, ChannelType::Port)}, {in(0)}, ChannelType::Port, {0});
    a.nop().flush({0});
    b.relaxedSignal({0}).copy(scratch(1), in(0)).nop().copy(out(0), scratch(1));
    if (waited) {
      a.signal({0}, ChannelType::Port);
      b.nop().wait({0}, ChannelType::Port);
    }
    return p.program;
  };
  CHECK(prove(make(false)).has("size_change_race"));
  CHECK(prove(make(false), {.fixedScratch = true}).result.proven);
  CHECK(prove(make(true)).result.proven);
}

TEST_CASE("a user overwrites the output once its launch has ended, though a peer still gets from it") {
  const auto make = [](CollectiveKind kind, bool told) {
    Plan p(kind, 2, 1, 1);
    if (kind == CollectiveKind::Custom)
      p.program.collective.expectations = {{0, 0, {{1, 0}}, noLoc}, {1, 0, {{1, 0}}, noLoc}};
    p.connectAll();
    Block a = p.on(0), b = p.on(1);
    a.relaxedSignal({0}).wait({0}).nop();
    a.remote(OpKind::Get, {out(0)}, {a.of(1, BufferKind::Output, 0)}, ChannelType::Memory, {0});
    b.relaxedWait({0}).nop().copy(out(0), in(0)).nop().signal({0});
    if (told) {
      a.nop().relaxedSignal({0});
      b.relaxedWait({0});
    }
    return p.program;
  };
  CHECK(prove(make(CollectiveKind::Custom, false))
            .says("rank 0, block 0, operation 3: error: launched again, it races on output[0] of rank 1: rank 1 may "
                  "end its launch, and its user overwrite it, while rank 0, block 0 still reads it"));
  CHECK(prove(make(CollectiveKind::Custom, true)).result.proven);
  CHECK(prove(make(CollectiveKind::Test, false)).result.proven); // its buffers are nobody's
}

TEST_CASE("a user reads the input, too: a peer must have written what it writes there") {
  const auto make = [](bool inplace, bool told) {
    Plan p(CollectiveKind::Custom, 2, 1, 1, inplace);
    p.program.collective.expectations = {{1, 0, {{1, 0}}, noLoc}};
    p.connectAll();
    Block a = p.on(0), b = p.on(1);
    if (!inplace)
      b.copy(out(0), in(0)).nop();
    b.relaxedSignal({0});
    a.relaxedWait({0}).nop().remote(OpKind::Put, {a.of(1, BufferKind::Input, 0)}, {in(0)});
    if (told) {
      a.nop().signal({0});
      b.wait({0});
    }
    return p.program;
  };
  const Proof early = prove(make(false, false));
  CHECK(early.says("rank 1 may end its launch before input[0] of rank 1 is written by rank 0, block 0"));
  CHECK(prove(make(false, true)).result.proven);
  CHECK_FALSE(prove(make(true, true)).result.proven); // there the input is the result
}
