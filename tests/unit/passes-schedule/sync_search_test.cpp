// One walk for many accesses, against one for each.
#include "../passes-verify/plan.h"
#include "catch.h"

#include "passes/schedule/sync_search.h"
#include "passes/schedule/sync_sizes.h"

using namespace mscclc;
using namespace mscclc::passes::prune;
using ir::ChannelType;
using ir::OpKind;

namespace {

/// A ring in which each rank puts its chunk into the next one's scratch, which copies it to its output: through memory
/// and, with a flush, through ports. At the end each rank tells the one before it that its scratch is free.
plan::Plan ring(std::uint32_t ranks) {
  plan::Plan p(ir::CollectiveKind::Custom, ranks, 2, 2, /*inplace=*/false, 2);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const std::uint32_t next = (r + 1) % ranks, previous = (r + ranks - 1) % ranks;
    p.channel(r, next);
    p.channel(r, previous);
    p.channel(r, next, ChannelType::Port);
    p.channel(r, previous, ChannelType::Port);
  }
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const std::uint32_t next = (r + 1) % ranks;
    plan::Block memory = p.on(r), port = p.on(r, 1);
    memory.relaxedSignal({1}).relaxedWait({0}).nop();
    memory.remote(OpKind::Put, {memory.of(next, ir::BufferKind::Scratch, 0)}, {plan::in(0)});
    memory.nop().signal({0}).wait({1}).nop();
    memory.copy(plan::out(0), plan::scratch(0));
    memory.nop().signal({1}).wait({0});
    port.remote(OpKind::Put, {port.of(next, ir::BufferKind::Scratch, 1, 1, ChannelType::Port)}, {plan::in(1)},
                ChannelType::Port, {0});
    port.nop().signal({0}, ChannelType::Port).flush({0}).wait({1}, ChannelType::Port).nop();
    port.copy(plan::out(1), plan::scratch(1));
    port.nop().signal({1}, ChannelType::Port).wait({0}, ChannelType::Port).nop();
  }
  return p;
}

TEST_CASE("accesses before one and the same are in order together as one by one") {
  const plan::Plan plan = ring(3);
  const ir::ProgramIndex index(plan.program);
  const SyncPieces pieces(index);
  SyncOrbits orbits(index, pieces);
  const std::vector<SyncRecord> records = recordSizes(index, pieces, orbits, 1'000'000);
  REQUIRE(!records.empty());
  const SyncRecord &record = records.front();
  std::vector<std::vector<Piece>> drops = orbits.candidates();
  drops.emplace_back();
  REQUIRE(drops.size() > 5);
  std::vector<std::uint32_t> inOrder; // for each of drops
  for (const std::vector<Piece> &drop : drops) {
    std::vector<bool> dropped(pieces.count());
    for (const Piece piece : drop)
      dropped[piece] = true;
    SyncSearch search(record, dropped);
    inOrder.push_back(0);
    std::uint32_t differ = 0, byDropped = 0;
    for (std::uint32_t second = 0; second < record.accesses.size(); ++second) {
      std::vector<Pair> pairs;
      for (std::uint32_t first = 0; first < record.accesses.size(); ++first)
        if (record.accesses[first].time < record.accesses[second].time)
          for (const bool visible : {false, true})
            pairs.push_back({first, second, visible, false});
      const std::vector<SyncSearch::Answer> together = search.order(pairs);
      for (std::size_t i = 0; i < pairs.size(); ++i) {
        std::vector<Piece> by;
        const bool alone = search.ordered(pairs[i], by);
        differ += alone != together[i].has_value();
        inOrder.back() += alone;
        for (const Piece piece : together[i].value_or(by))
          byDropped += dropped[piece];
      }
    }
    CHECK(differ == 0);
    CHECK(byDropped == 0);
  }
  for (std::size_t i = 0; i + 1 < drops.size(); ++i)
    CHECK(inOrder[i] <= inOrder.back());
  CHECK(inOrder[0] < inOrder.back());
}

} // namespace
