#include "emit.h"

#include "backend-cuda/wait_places.h"
#include "tests/cuda/program_maker.h"

using namespace mscclc;
using namespace mscclc::test;

namespace {

/// Packets go around a ring of `n` ranks, `steps` times, each received at its own line; and a signal to the next rank.
ir::Program ring(std::uint32_t n, std::uint32_t steps) {
  ProgramMaker m("ring", ir::CollectiveKind::AllGather, n, 1, n, steps, 1);
  const std::uint32_t channels = m.connectAll();
  const std::uint32_t file = m.program.sources.addFile("folder/ring.cpp");
  for (std::uint32_t r = 0; r < n; ++r) {
    const std::uint32_t next = (r + 1) % n, last = (r + n - 1) % n;
    for (std::uint32_t s = 0; s < steps; ++s) {
      m.add(r, 0, OpKind::PutPacket, {m.input(0)}, {m.remote(r, next, BufferKind::Scratch, s)}, {},
            ChannelType::Memory);
      m.add(r, 0, OpKind::UnpackPacket, {m.scratch(s)}, {m.output(s % n)}).loc = m.program.sources.addPlace(file, 7, 1);
    }
    m.add(r, 0, OpKind::Signal, {}, {}, {m.channel(channels, r, next)}, ChannelType::Memory);
    m.add(r, 0, OpKind::Wait, {}, {}, {m.channel(channels, r, last)}, ChannelType::Memory).loc =
        m.program.sources.addPlace(file, 9, 1);
  }
  return m.program;
}

} // namespace

TEST_CASE("Waits of one place are one line, with the ranks that packets are of") {
  const std::string text = emit(ring(4, 3));
  CHECK(count(text, "host::isAmong(") == 2);
  CHECK(count(text, "if (host::isAmong(operation, 1, 2, 3, j))\n"
                    "        *info = {\"upkt\", \"ring.cpp:7\", static_cast<uint32_t>(mod(r - 1, 4))};\n") == 1);
  CHECK(count(text, "if (host::isAmong(operation, 7, 1, 1, j))\n"
                    "        *info = {\"wait\", \"ring.cpp:9\", MSCCLC_UNPAIRED};\n") == 1);
}

TEST_CASE("Blocks whose waits stand elsewhere have lists of their own") {
  ir::Program program = ring(4, 1);
  ir::Op &wait = program.ranks[2].blocks[0].ops.back();
  wait.loc = program.sources.addPlace(0, 30, 1);
  cuda::Tables tables("facts");
  const cuda::WaitPlaces found = cuda::findWaits(program, tables);
  REQUIRE(found.lists.size() == 2);
  CHECK(found.lists[0].instances.size() == 3);
  CHECK(found.lists[1].instances == std::vector<cuda::RankBlock>{{2, 0}});
  CHECK(found.lists[1].waits.back().place == "ring.cpp:30");
}

TEST_CASE("Packets of several ranks in one operand name none") {
  ProgramMaker m("two", ir::CollectiveKind::AllGather, 3, 1, 3, 2, 1);
  for (const std::uint32_t r : {0u, 1u})
    m.add(r, 0, OpKind::PutPacket, {m.input(0)}, {m.remote(r, 2, BufferKind::Scratch, r)}, {}, ChannelType::Memory);
  m.add(2, 0, OpKind::UnpackPacket, {m.scratch(0, 2)}, {m.output(0, 2)});
  CHECK(count(emit(m.program), "*info = {\"upkt\", \"\", static_cast<uint32_t>(-1)};") == 1);
}

TEST_CASE("A kernel is named after its plan, and one without waits says nothing of them") {
  ProgramMaker m("my plan", ir::CollectiveKind::AllGather, 2, 1, 2, 0, 1);
  for (std::uint32_t r = 0; r < 2; ++r)
    m.add(r, 0, OpKind::Copy, {m.input(0)}, {m.output(r)});
  const std::string text = emit(m.program);
  CHECK(count(text, "mscclc_my_plan(MSCCLC_PARAMETERS(") == 1);
  CHECK(count(text, "waitInfo") == 0);
}
