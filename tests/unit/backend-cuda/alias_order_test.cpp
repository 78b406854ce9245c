// Tests where all threads fence between a multicast mapping and the devices' own addresses: in places where no waiting
// thread does so.
#include "emit.h"

#include "tests/cuda/program_maker.h"

using namespace mscclc;
using namespace mscclc::test;

namespace {

constexpr std::string_view fence = "fenceAliases(k);";

/// Statements of rank 0's only block of two ranks with a switch channel over the outputs; `fill` adds to each block.
template <class Fill> std::string statements(Fill fill) {
  ProgramMaker m("two", ir::CollectiveKind::Test, 2, 4, 4, 4, 1);
  m.connectAll();
  for (std::uint32_t r = 0; r < 2; ++r) {
    m.program.ranks[r].switchChannels.push_back({BufferKind::Output, {0, 1}});
    fill(m, r);
  }
  return blockProgram(emit(m.program), 0);
}

void meet(ProgramMaker &m, std::uint32_t r) {
  m.add(r, 0, OpKind::Nop);
}
void await(ProgramMaker &m, std::uint32_t r) {
  m.add(r, 0, OpKind::Wait, {}, {}, {m.channel(0, r, 1 - r)}, ChannelType::Memory);
}

/// Waits, broadcasts input chunk 0 to output chunk 0 of both ranks, then what `between` adds, then reads an output
/// chunk.
template <class Between> std::string broadcastThenRead(std::uint32_t chunk, Between between) {
  return statements([&](ProgramMaker &m, std::uint32_t r) {
    await(m, r), meet(m, r);
    m.add(r, 0, OpKind::SwitchBroadcast, {m.input(0)}, {m.multicast(0, 0)});
    between(m, r);
    m.add(r, 0, OpKind::Copy, {m.output(chunk)}, {m.scratch(0)});
  });
}

} // namespace

TEST_CASE("accesses by both kinds of address in one block are fenced") {
  const std::string text = broadcastThenRead(0, meet);
  INFO(text);
  CHECK(text.find(fence) > text.find("switchBroadcast("));
  CHECK(text.find(fence) < text.find("copy("));
  CHECK(count(broadcastThenRead(1, meet), std::string(fence)) == 0); // another chunk
}

TEST_CASE("a wait between two syncs fences for the block") {
  const auto ordered = [](ProgramMaker &m, std::uint32_t r) { meet(m, r), await(m, r), meet(m, r); };
  CHECK(count(broadcastThenRead(0, ordered), std::string(fence)) == 0);
  // The thread that waits is on no way from another thread's access where the block does not meet before, or after.
  const auto unmetBefore = [](ProgramMaker &m, std::uint32_t r) { await(m, r), meet(m, r); };
  const auto unmetAfter = [](ProgramMaker &m, std::uint32_t r) { meet(m, r), await(m, r); };
  CHECK(count(broadcastThenRead(0, unmetBefore), std::string(fence)) == 1);
  CHECK(count(broadcastThenRead(0, unmetAfter), std::string(fence)) == 1);
}

TEST_CASE("what users wrote before the launch is fenced from the first access by multicast") {
  const auto reduce = [](bool waits) {
    return statements([&](ProgramMaker &m, std::uint32_t r) {
      if (waits)
        await(m, r), meet(m, r);
      m.add(r, 0, OpKind::SwitchReduce, {m.multicast(0, 0)}, {m.scratch(0)});
    });
  };
  CHECK(count(reduce(false), std::string(fence)) == 1);
  CHECK(count(reduce(true), std::string(fence)) == 0);
}

TEST_CASE("what a block did by multicast is fenced at its end, from users") {
  const auto broadcast = [](bool waits) {
    return statements([&](ProgramMaker &m, std::uint32_t r) {
      await(m, r), meet(m, r);
      m.add(r, 0, OpKind::SwitchBroadcast, {m.input(0)}, {m.multicast(0, 0)});
      if (waits)
        meet(m, r), await(m, r);
    });
  };
  CHECK(count(broadcast(false), "fenceAliasesAtEnd(k);") == 1);
  CHECK(count(broadcast(true), "fenceAliasesAtEnd(k);") == 0);
}
