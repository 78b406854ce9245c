// By how much thread blocks exceed an executor's limits says how many of them are enough.
#include "catch.h"

#include "passes/schedule/candidate.h"
#include "passes/schedule/excess.h"

namespace mscclc::passes::schedule {
namespace {

TEST_CASE("the limit that is exceeded most says how many blocks are enough", "[choose]") {
  ExecutorLimits limits = executorLimits.front();
  limits.opsPerBlock = 4;
  limits.channelsPerBlock = 2;
  std::vector<ir::Rank> ranks(2);
  ranks[0].blocks.resize(2);
  ranks[1].blocks.resize(1);
  ranks[0].blocks[0].ops.resize(10); // 2.5 times as many
  ranks[0].blocks[1].ops.resize(1);
  ranks[1].blocks[0].ops.resize(1);
  Excess excess = excessOf(ranks, limits, 1);
  CHECK(excess.isKnown());
  CHECK(excess.times == 2.5);
  CHECK(excess.blocks == 2);
  CHECK(excess.enoughBlocks() == 5);

  ranks[1].blocks[0].channels.resize(6, {.type = ir::ChannelType::Port});
  excess = excessOf(ranks, limits, 2);
  CHECK(excess.times == 3);
  CHECK(excess.enoughBlocks() == 3); // two blocks of two instances are one of each

  ranks[0].blocks[0].ops.resize(4);
  ranks[1].blocks[0].channels.resize(2);
  CHECK_FALSE(excessOf(ranks, limits, 1).isKnown());
}

TEST_CASE("a refused candidate is better than another that is farther from the limits", "[choose]") {
  const Candidate far{.refused = true, .excess = {.times = 3, .blocks = 2}},
      near{.refused = true, .excess = {.times = 2, .blocks = 2}},
      more{.refused = true, .excess = {.times = 4, .blocks = 8}}, unknown{.refused = true}, fits{.nanoseconds = 1e9};
  CHECK(isBetter(near, far));
  CHECK_FALSE(isBetter(far, near));
  CHECK(isBetter(more, near)); // more blocks are on the way
  CHECK(isBetter(far, unknown));
  CHECK(isBetter(fits, more));
  CHECK_FALSE(isBetter(near, fits));
  CHECK_FALSE(isBetter(near, near));
}

} // namespace
} // namespace mscclc::passes::schedule
