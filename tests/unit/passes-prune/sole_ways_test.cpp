// Messages that are needed at a glance, against what is found by asking for each orbit.
#include "../passes-verify/plan.h"
#include "catch.h"

#include "passes/prune/needed_sync.h"
#include "passes/prune/sole_ways.h"
#include "passes/prune/sync_sizes.h"

using namespace mscclc;
using namespace mscclc::passes::prune;
using ir::OpKind;

namespace {

/// An all-gather in which every rank puts its chunk to the others, which wait for it. `twice`: in another block, all
/// ranks tell each other once more.
plan::Plan allPairs(std::uint32_t ranks, bool twice) {
  plan::Plan p(ir::CollectiveKind::AllGather, ranks, 1, ranks, /*inplace=*/true);
  for (std::uint32_t r = 0; r < ranks; ++r)
    for (int time = 0; time <= static_cast<int>(twice); ++time)
      for (std::uint32_t step = 1; step < ranks; ++step)
        p.channel(r, (r + step) % ranks);
  const plan::Ids all = p.allChannels();
  for (std::uint32_t r = 0; r < ranks; ++r) {
    plan::Block code = p.on(r);
    code.relaxedSignal(all).relaxedWait(all).nop();
    for (std::uint32_t step = 1; step < ranks; ++step)
      code.remote(OpKind::Put, {code.of((r + step) % ranks, ir::BufferKind::Output, r)}, {plan::out(r)});
    code.nop().signal(all).wait(all);
    if (!twice)
      continue;
    plan::Ids more = all;
    for (std::uint32_t &id : more)
      id += ranks - 1;
    code.nop();
    code.signal(more).wait(more);
  }
  return p;
}

struct Asked {
  std::uint32_t sole = 0, needed = 0, wrong = 0; ///< orbits of messages; wrong: on sole ways, but not needed
};

Asked ask(const ir::Program &program) {
  const ir::ProgramIndex index(program);
  const SyncPieces pieces(index);
  SyncOrbits orbits(index, pieces);
  const std::vector<SyncRecord> records = recordSizes(index, pieces, orbits, 1'000'000);
  REQUIRE(!records.empty());
  const std::vector<bool> sole = onSoleWays(records.front(), orbits, pieces.count());
  Asked asked;
  for (const std::vector<Piece> &orbit : orbits.candidates()) {
    if (pieces.kind(orbit[0]) == OpKind::Nop)
      continue;
    NeededSync needed(records, orbits, std::vector<bool>(pieces.count()), /*everyRank=*/true);
    const std::vector<Piece> *const one = &orbit;
    const bool isNeeded = !needed.drop({&one, 1}, /*excuse=*/true);
    asked.sole += sole[orbit[0]];
    asked.needed += isNeeded;
    asked.wrong += sole[orbit[0]] && !isNeeded;
  }
  return asked;
}

TEST_CASE("every message of an all-gather of all pairs is found at a glance") {
  const Asked asked = ask(allPairs(5, false).program);
  CHECK(asked.needed == 8); // to each of four distances, before the put and after it
  CHECK(asked.sole == asked.needed);
  CHECK(asked.wrong == 0);
}

TEST_CASE("what is told twice is not found") {
  const Asked asked = ask(allPairs(4, true).program);
  CHECK(asked.wrong == 0);
  CHECK(asked.needed == 3); // those before the put
  CHECK(asked.sole == 3);
}

} // namespace
