// Clocks are joined as another rank sees them.
#include "catch.h"

#include "passes/schedule/agent_clocks.h"

#include <algorithm>
#include <random>

namespace mscclc::passes::schedule {

TEST_CASE("a clock is joined with one that numbers ranks otherwise") {
  std::mt19937 random(7);
  for (const std::uint32_t ranks : {3u, 8u, 48u, 100u})
    for (const std::uint32_t blocks : {1u, 5u})
      for (int round = 0; round < 20; ++round) {
        const std::uint32_t agents = ranks * blocks, step = random() % ranks;
        std::vector<std::uint32_t> seen(ranks), expected(agents), told(agents);
        for (std::uint32_t r = 0; r < ranks; ++r)
          seen[r] = round % 2 == 0 || (ranks & (ranks - 1)) != 0 ? (r + step) % ranks : r ^ step;
        AgentClocks clocks(agents);
        Clock clock, other;
        for (std::uint32_t i = 0; i < agents; ++i)
          if (random() % 3 == 0)
            clocks.raise(clock, i, expected[i] = random() % 50);
        const Clock before = clock; // shares its pages
        for (std::uint32_t i = 0; i < agents; ++i)
          if (random() % 3 == 0)
            clocks.raise(other, i, told[i] = random() % 50);
        std::vector<std::uint32_t> unchanged = expected;
        for (std::uint32_t i = 0; i < agents; ++i)
          expected[i] = std::max(expected[i], told[i / ranks * ranks + seen[i % ranks]]);
        clocks.join(clock, other, seen);
        for (std::uint32_t i = 0; i < agents; ++i) {
          INFO(ranks << " ranks, " << blocks << " blocks, agent " << i);
          REQUIRE(clocks.at(clock, i) == expected[i]);
          REQUIRE(clocks.at(before, i) == unchanged[i]);
          REQUIRE(clocks.at(other, i) == told[i]);
        }
      }
}

} // namespace mscclc::passes::schedule
