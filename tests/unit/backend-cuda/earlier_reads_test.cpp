// Which relaxed signals release: those that reads of the launch may precede.
#include "emit.h"

#include "tests/cuda/program_maker.h"

using namespace mscclc;
using namespace mscclc::test;

namespace {

/// Two ranks with channels and `blocks` blocks each. Block 0 does what `first` adds, then meets the other rank by
/// relaxed signals; the other blocks do what `rest(maker, rank, block)` adds.
template <class First, class Rest> std::string emitted(std::uint32_t blocks, First first, Rest rest) {
  ProgramMaker m("two", ir::CollectiveKind::Test, 2, 4, 4, 4, blocks);
  const std::uint32_t channel = m.connectAll();
  for (std::uint32_t r = 0; r < 2; ++r) {
    m.program.ranks[r].semaphores.resize(1);
    first(m, r);
    m.meet(r, 0, channel, true);
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
const auto nothing = [](ProgramMaker &, std::uint32_t, std::uint32_t) {};
const auto nothingFirst = [](ProgramMaker &, std::uint32_t) {};

/// Whether the one relaxed signal does.
bool releases(const std::string &text) {
  INFO(text);
  CHECK(count(text, " signal(k,") + count(text, "relaxedSignal(k,") == 1);
  return count(text, " signal(k,") == 1;
}

} // namespace

TEST_CASE("a relaxed signal releases where the block has read") {
  CHECK(releases(emitted(1, [](ProgramMaker &m, std::uint32_t r) { get(m, r, 0); }, nothing)));
  CHECK(releases(emitted(1, [](ProgramMaker &m, std::uint32_t r) { put(m, r, 0); }, nothing)));
  CHECK_FALSE(releases(emitted(1, nothingFirst, nothing)));
}

TEST_CASE("a relaxed signal does not release for reads after it") {
  ProgramMaker m("two", ir::CollectiveKind::Test, 2, 4, 4, 4, 1);
  const std::uint32_t channel = m.connectAll();
  for (std::uint32_t r = 0; r < 2; ++r) {
    m.meet(r, 0, channel, true);
    get(m, r, 0);
  }
  CHECK_FALSE(releases(emit(m.program)));
}

TEST_CASE("a relaxed signal releases for reads of a block that it learns of") {
  const auto acquire = [](ProgramMaker &m, std::uint32_t r) {
    m.add(r, 0, OpKind::SemAcquire, {}, {}, {0});
    m.nop(r, 0);
  };
  const auto release = [](bool readsBefore) {
    return [readsBefore](ProgramMaker &m, std::uint32_t r, std::uint32_t block) {
      if (readsBefore)
        get(m, r, block);
      m.nop(r, block);
      m.add(r, block, OpKind::SemRelease, {}, {}, {0});
      m.nop(r, block);
      get(m, r, block);
    };
  };
  CHECK(releases(emitted(2, acquire, release(true))));
  CHECK_FALSE(releases(emitted(2, acquire, release(false))));
  CHECK_FALSE(releases(emitted(2, nothingFirst, release(true)))); // of which nothing tells the first block
}

TEST_CASE("a relaxed signal releases for what it learns of at a barrier, or by way of a signal of another rank") {
  const auto meet = [](ProgramMaker &m, std::uint32_t r, std::uint32_t block) {
    ir::Op &op = m.add(r, block, OpKind::Barrier);
    op.count = 2;
  };
  const auto atBarrier = [&](bool readsBefore) {
    return emitted(
        2, [&](ProgramMaker &m, std::uint32_t r) { meet(m, r, 0); },
        [&](ProgramMaker &m, std::uint32_t r, std::uint32_t block) {
          if (readsBefore)
            get(m, r, block);
          meet(m, r, block);
          get(m, r, block);
        });
  };
  CHECK(releases(atBarrier(true)));
  CHECK_FALSE(releases(atBarrier(false)));
  // A second block of rank 1 signals block 0 of rank 0, which then meets rank 1.
  const auto by = [](bool reads) {
    ProgramMaker m("two", ir::CollectiveKind::Test, 2, 4, 4, 4, 2);
    const std::uint32_t relaxed = m.connectAll(), other = m.connectAll();
    if (reads)
      get(m, 1, 1);
    m.nop(1, 1);
    m.all(1, 1, OpKind::Signal, other);
    m.all(0, 0, OpKind::Wait, other);
    m.meet(0, 0, relaxed, true);
    m.all(1, 0, OpKind::RelaxedWait, relaxed);
    return emit(m.program);
  };
  CHECK(count(by(true), "relaxedSignal(k,") == 0);
  CHECK(count(by(false), "relaxedSignal(k,") == 1);
}

TEST_CASE("what stands in a pipeline comes again: a relaxed signal before a read releases") {
  ProgramMaker m("two", ir::CollectiveKind::Test, 2, 4, 4, 4, 1);
  const std::uint32_t channel = m.connectAll();
  for (std::uint32_t r = 0; r < 2; ++r) {
    ir::Op &loop = m.add(r, 0, OpKind::Pipeline);
    loop.imm = 65536;
    loop.count = 1;
    loop.bodySize = 5;
    m.meet(r, 0, channel, true);
    get(m, r, 0);
  }
  CHECK(releases(emit(m.program)));
}
