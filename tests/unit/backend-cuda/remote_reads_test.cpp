// Which relaxed waits acquire: those that reads of other ranks' memory may follow.
#include "emit.h"

#include "tests/cuda/program_maker.h"

using namespace mscclc;
using namespace mscclc::test;

namespace {

/// Two ranks with channels and `blocks` blocks each. Block 0 meets the other rank at launch, then does what `first`
/// adds, the others what `rest(maker, rank, block)` adds.
template <class First, class Rest> std::string emitted(std::uint32_t blocks, First first, Rest rest) {
  ProgramMaker m("two", ir::CollectiveKind::Test, 2, 4, 4, 4, blocks);
  const std::uint32_t channel = m.connectAll();
  for (std::uint32_t r = 0; r < 2; ++r) {
    m.program.ranks[r].semaphores.resize(1);
    m.meet(r, 0, channel, true);
    first(m, r);
    for (std::uint32_t b = 1; b < blocks; ++b)
      rest(m, r, b);
  }
  return emit(m.program);
}
void put(ProgramMaker &m, std::uint32_t r, std::uint32_t block) {
  m.add(r, block, OpKind::Put, {m.input(0)}, {m.remote(r, 1 - r, BufferKind::Output, 1)}, {}, ChannelType::Memory);
}
void get(ProgramMaker &m, std::uint32_t r, std::uint32_t block) {
  m.add(r, block, OpKind::Get, {m.remote(r, 1 - r, BufferKind::Input, 0)}, {m.output(0)}, {0}, ChannelType::Memory);
}
const auto putFirst = [](ProgramMaker &m, std::uint32_t r) { put(m, r, 0); };
const auto nothing = [](ProgramMaker &, std::uint32_t, std::uint32_t) {};

bool acquires(const std::string &text) {
  INFO(text);
  CHECK(count(text, "launchWait(k,") + count(text, "relaxedWait(k,") == 1);
  return count(text, "launchWait(k,") == 1;
}

} // namespace

TEST_CASE("a relaxed wait acquires where the block then reads a peer's memory") {
  CHECK(acquires(emitted(1, [](ProgramMaker &m, std::uint32_t r) { get(m, r, 0); }, nothing)));
  CHECK_FALSE(acquires(emitted(1, putFirst, nothing)));
}

TEST_CASE("a relaxed wait does not acquire for reads before it") {
  ProgramMaker m("two", ir::CollectiveKind::Test, 2, 4, 4, 4, 1);
  const std::uint32_t channel = m.connectAll();
  for (std::uint32_t r = 0; r < 2; ++r) {
    get(m, r, 0);
    m.meet(r, 0, channel, true);
    put(m, r, 0);
  }
  CHECK_FALSE(acquires(emit(m.program)));
}

TEST_CASE("a relaxed wait acquires for a block that learns of it") {
  const auto readAfter = [](OpKind kind) {
    return [kind](ProgramMaker &m, std::uint32_t r, std::uint32_t block) {
      m.add(r, block, kind, {}, {}, {0});
      m.nop(r, block);
      get(m, r, block);
    };
  };
  const auto readBefore = [](ProgramMaker &m, std::uint32_t r, std::uint32_t block) {
    get(m, r, block);
    m.nop(r, block);
    m.add(r, block, OpKind::SemAcquire, {}, {}, {0});
  };
  const auto release = [](ProgramMaker &m, std::uint32_t r) { m.add(r, 0, OpKind::SemRelease, {}, {}, {0}); };
  CHECK(acquires(emitted(2, release, readAfter(OpKind::SemAcquire))));
  CHECK_FALSE(acquires(emitted(2, release, readBefore)));
  CHECK_FALSE(acquires(emitted(2, putFirst, readBefore))); // another block's reads, which nothing tells of the wait
}

TEST_CASE("a relaxed wait acquires for what learns of it at a barrier, or by way of a signal to another rank") {
  const auto meet = [](ProgramMaker &m, std::uint32_t r, std::uint32_t block) {
    ir::Op &op = m.add(r, block, OpKind::Barrier);
    op.count = 2;
  };
  CHECK(acquires(emitted(
      2, [&](ProgramMaker &m, std::uint32_t r) { meet(m, r, 0); },
      [&](ProgramMaker &m, std::uint32_t r, std::uint32_t block) { meet(m, r, block), get(m, r, block); })));
  // Rank 0 meets rank 1 at launch and signals it on another channel, which a second block of rank 1 waits for.
  const auto by = [](bool reads) {
    ProgramMaker m("two", ir::CollectiveKind::Test, 2, 4, 4, 4, 2);
    const std::uint32_t relaxed = m.connectAll(), other = m.connectAll();
    m.meet(0, 0, relaxed, true);
    m.all(1, 0, OpKind::RelaxedSignal, relaxed);
    m.all(0, 0, OpKind::Signal, other);
    m.all(1, 1, OpKind::Wait, other);
    m.nop(1, 1);
    reads ? get(m, 1, 1) : put(m, 1, 1);
    return emit(m.program);
  };
  CHECK(acquires(by(true)));
  CHECK_FALSE(acquires(by(false)));
}

TEST_CASE("what stands in a pipeline comes again: a relaxed wait behind a read acquires") {
  ProgramMaker m("two", ir::CollectiveKind::Test, 2, 4, 4, 4, 1);
  const std::uint32_t channel = m.connectAll();
  for (std::uint32_t r = 0; r < 2; ++r) {
    ir::Op &loop = m.add(r, 0, OpKind::Pipeline);
    loop.imm = 65536;
    loop.count = 1;
    loop.bodySize = 5;
    get(m, r, 0);
    m.meet(r, 0, channel, true);
  }
  CHECK(acquires(emit(m.program)));
}
