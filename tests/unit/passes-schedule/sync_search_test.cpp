// One walk for many accesses, against one for each, and against plain reachability.
#include "../passes-verify/algorithms.h"
#include "plain_sync.h"

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

/// A thread of rank 1 waits and signals in one phase, as does one of its second block with semaphores: both pass on
/// that rank 0 has put.
/// Another thread of that phase, from which rank 2 hears last, knows nothing of it.
plan::Plan relay() {
  plan::Plan p(ir::CollectiveKind::Custom, 3, 1, 1, /*inplace=*/false, 1);
  p.connectAll(); // rank 0: channel 0 to rank 1; rank 1: 0 to rank 0, 1 to rank 2; rank 2: 1 to rank 1
  p.channel(1, 2);
  p.channel(2, 1);
  for (int i = 0; i < 2; ++i)
    p.semaphore(1);
  plan::Block from = p.on(0), by = p.on(1), helper = p.on(1, 1), to = p.on(2);
  from.relaxedWait({0}).nop().remote(OpKind::Put, {from.of(1, ir::BufferKind::Scratch, 0)}, {plan::in(0)});
  from.nop().signal({0}).wait({0});
  by.relaxedSignal({0}).wait({0}).release({0}).signal({1}).signal({0, 2}).nop();
  by.acquire({1}).signal({1}).barrier(0, 2).wait({1});
  helper.acquire({0}).release({1}).nop().copy(plan::out(0), plan::scratch(0)).barrier(0, 2);
  to.wait({1}).wait({2}).nop();
  to.remote(OpKind::Get, {plan::out(0)}, {to.of(1, ir::BufferKind::Scratch, 0)}, ChannelType::Memory, {1});
  to.nop().signal({1}).wait({1});
  return p;
}

/// What was asked of SyncSearch with one set of pieces dropped.
struct Asked {
  std::uint32_t inOrder = 0;
  std::uint32_t differ = 0;    ///< answers that differ from those about all pairs of a second access
  std::uint32_t wrong = 0;     ///< that differ from plain reachability
  std::uint32_t byDropped = 0; ///< pieces named that are dropped
};

Asked askAll(const SyncRecord &record, const std::vector<bool> &dropped) {
  Asked asked;
  SyncSearch search(record, dropped);
  std::vector<std::vector<plan::PlainSync>> plain; // [access][queued × visible]
  for (const Access &first : record.accesses) {
    plain.emplace_back();
    for (const bool queued : {false, true})
      for (const bool visible : {false, true})
        if (!queued || first.port != ir::none)
          plain.back().emplace_back(record, dropped, first, visible, queued);
  }
  for (std::uint32_t second = 0; second < record.accesses.size(); ++second) {
    const Access &later = record.accesses[second];
    std::vector<Pair> pairs;
    for (std::uint32_t first = 0; first < record.accesses.size(); ++first)
      if (record.accesses[first].time < later.time)
        for (const bool visible : {false, true})
          pairs.push_back({first, second, visible, false});
    const std::vector<SyncSearch::Answer> together = search.order(pairs);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      std::vector<Piece> by;
      const bool alone = search.ordered(pairs[i], by);
      const std::uint32_t port = record.accesses[pairs[i].first].port;
      const bool queued = port != ir::none && port == later.port;
      asked.inOrder += alone;
      asked.differ += alone != together[i].has_value();
      asked.wrong += alone != plain[pairs[i].first][2 * queued + pairs[i].visible].before(later);
      for (const Piece piece : together[i].value_or(by))
        asked.byDropped += dropped[piece];
    }
  }
  return asked;
}

/// Asks of all accesses of `plan`, with all that can be dropped alone, and with nothing dropped.
void checkAll(const plan::Plan &plan) {
  const ir::ProgramIndex index(plan.program);
  const SyncPieces pieces(index);
  SyncOrbits orbits(index, pieces);
  const std::vector<SyncRecord> records = recordSizes(index, pieces, orbits, 1'000'000);
  REQUIRE(!records.empty());
  std::vector<std::vector<Piece>> drops = orbits.candidates();
  drops.emplace_back();
  REQUIRE(drops.size() > 2);
  std::vector<std::uint32_t> inOrder; // for each of drops
  for (const std::vector<Piece> &drop : drops) {
    std::vector<bool> dropped(pieces.count());
    for (const Piece piece : drop)
      dropped[piece] = true;
    const Asked asked = askAll(records.front(), dropped);
    CHECK(asked.differ == 0);
    CHECK(asked.wrong == 0);
    CHECK(asked.byDropped == 0);
    inOrder.push_back(asked.inOrder);
  }
  for (std::size_t i = 0; i + 1 < drops.size(); ++i)
    CHECK(inOrder[i] <= inOrder.back());
  CHECK(std::ranges::min(inOrder) < inOrder.back());
}

TEST_CASE("accesses before one and the same are in order together as one by one, and as they can be reached") {
  SECTION("in memory and through ports") {
    checkAll(ring(3));
  }
  SECTION("told on in one phase") {
    checkAll(relay());
  }
  SECTION("with packets") {
    plan::Plan p = plan::allReducePackets(2, true);
    for (std::uint32_t r = 0; r < 2; ++r)
      p.on(r).nop().signal({0}).wait({0}).nop().copy(plan::in(0), plan::in(1)).nop();
    checkAll(p);
  }
  SECTION("with barriers") {
    checkAll(plan::allGatherGroup(2, 2));
  }
  SECTION("in a pipeline") {
    checkAll(plan::allReducePipeline(1024));
  }
}

} // namespace
