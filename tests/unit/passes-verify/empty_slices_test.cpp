// Tests slices of thread-block groups that are empty at small sizes. An empty slice of packets orders nothing.
#include "prove.h"

#include "passes/simulate/simulate.h"

using namespace plan;

namespace {

/// Rank 0 sends a chunk to rank 1 in packets. Another block learns from slice `slice` of `of` that rank 1 is in the
/// same launch. With `slices`, the chunk is sent as a slice, too.
Plan acknowledged(std::uint32_t slice, std::uint32_t of, bool slices = false) {
  Plan p(CollectiveKind::Test, 2, 1, 1, false, 1);
  p.program.protocol = Protocol::LL;
  p.program.doubleScratch = true;
  p.connectAll();
  Block sender = p.on(0, 0), hears = p.on(0, 1), taker = p.on(1, 0), tells = p.on(1, 1);
  sender.remote(OpKind::PutPacket, {sender.of(1, BufferKind::Scratch, 0)}, {in(0)});
  taker.remote(OpKind::UnpackPacket, {out(0)}, {scratch(0)}, ChannelType::None);
  if (slices) {
    sender.slice(slice, of);
    taker.slice(slice, of);
  }
  tells.remote(OpKind::PutPacket, {tells.of(0, BufferKind::Scratch, 0)}, {in(0)}).slice(slice, of);
  hears.remote(OpKind::UnpackPacket, {out(0)}, {scratch(0)}, ChannelType::None).slice(slice, of);
  return p;
}

} // namespace

TEST_CASE("an acknowledgement that is empty at a small size") {
  const Program program = acknowledged(1, 2).program;
  const Proof proof = prove(program);
  CHECK(proof.has("relaunch_race"));
  CHECK(proof.says(
      "rank 0, block 0, operation 0: note: this is so if a chunk has 16 bytes, which slices do not divide evenly"));
  CHECK(proof.says("rank 0, block 0, operation 0: note: messages of 32 bytes and more are proven: .minMessageSize "
                   "(min_message_size of a plan) can say that there are no others"));
  CHECK(prove(ofSize(program, 32, 1 << 20)).result.proven);
  CHECK(prove(ofSize(program, 17, 1 << 20)).result.proven); // 32 is the next that it takes
  CHECK(prove(ofSize(program, 16, 16)).has("relaunch_race"));
  CHECK_FALSE(prove(ofSize(program, 16, 16)).says("are proven"));
  CHECK(prove(acknowledged(0, 2).program).result.proven);
  DiagnosticEngine diags;
  CHECK_FALSE(mscclc::passes::simulate(program, diags, {.sizes = {16}, .schedules = 100, .launches = 4}).ok);
}

TEST_CASE("the least size that is proven is behind the last slice that is empty") {
  CHECK(prove(acknowledged(4, 7).program).says("note: messages of 80 bytes and more are proven"));
  CHECK(prove(ofSize(acknowledged(4, 7).program, 80, 1 << 20)).result.proven);
  CHECK(prove(ofSize(acknowledged(4, 7).program, 64, 1 << 20)).has("relaunch_race"));
  const Proof many = prove(ofSize(acknowledged(6, 7).program, 112, 1 << 20));
  CHECK(many.result.proven);
  CHECK(many.result.unevenSizes == 0);
}

TEST_CASE("a launch in which slices are empty, between two in which they are not") {
  const Program program = acknowledged(1, 2, true).program;
  const Proof proof = prove(program);
  CHECK(proof.has("size_change_race"));
  CHECK(proof.says(
      "note: this is so if launches with 32, 16 and 32 bytes a chunk follow each other: an empty slice of packets "
      "signals nothing"));
  CHECK(proof.says("note: messages of 32 bytes and more are proven"));
  for (const std::uint64_t size : {16, 32, 160})
    CHECK(prove(ofSize(program, size, size)).result.proven);
  CHECK(prove(ofSize(program, 32, 1 << 20)).result.proven);
  CHECK(prove(program, {.oneSize = true}).result.proven);
  DiagnosticEngine diags;
  const mscclc::passes::SimulateOptions both{.sizes = {16, 32}, .schedules = 300, .launches = 8};
  CHECK_FALSE(mscclc::passes::simulate(program, diags, both).ok);
}

TEST_CASE("slices of which each has its own order may be empty") {
  Plan p(CollectiveKind::Custom, 2, 1, 1, false, 2);
  p.program.protocol = Protocol::LL;
  p.program.doubleScratch = true;
  p.program.collective.expectations = {{0, 0, {{1, 0}}, noLoc}, {1, 0, {{0, 0}}, noLoc}};
  p.connectAll();
  for (std::uint32_t r = 0; r < 2; ++r)
    for (std::uint32_t b = 0; b < 5; ++b) {
      Block block = p.on(r, b);
      block.remote(OpKind::PutPacket, {block.of(1 - r, BufferKind::Scratch, 0)}, {in(0)}).slice(b, 5);
      block.remote(OpKind::UnpackPacket, {out(0)}, {scratch(0)}, ChannelType::None).slice(b, 5);
    }
  const Proof proof = prove(p.program);
  CHECK(proof.text.empty());
  CHECK(proof.result.unevenSizes == 4);
  CHECK(prove(ofSize(p.program, 48, 1 << 20)).result.unevenSizes == 2);
}

TEST_CASE("slices of packets in pipelines, and more of them than can be followed") {
  Plan p = acknowledged(1, 2);
  for (std::uint32_t r = 0; r < 2; ++r) {
    auto &ops = p.program.ranks[r].blocks[1].ops;
    ops.insert(ops.begin(), Op{.kind = OpKind::Pipeline, .imm = 1024, .count = 1, .bodySize = 1});
  }
  CHECK(prove(p.program).says("rank 0, block 1, operation 1: error: not proven: in a pipeline, slices of thread-block "
                              "groups that do not divide their chunks hold packets"));
  Plan many(CollectiveKind::Test, 1, 1, 1, false, 1);
  many.program.protocol = Protocol::LL;
  many.program.doubleScratch = true;
  for (std::uint32_t b = 0; b < 60; ++b)
    many.on(0, b)
        .remote(OpKind::CopyPacket, {scratch(0)}, {in(0)}, ChannelType::None)
        .slice(b, 60)
        .remote(OpKind::UnpackPacket, {out(0)}, {scratch(0)}, ChannelType::None)
        .slice(b, 60);
  CHECK(prove(many.program).has("slices_too_many"));
  CHECK(prove(ofSize(many.program, 30 * 16, 1 << 20)).result.proven);
}
