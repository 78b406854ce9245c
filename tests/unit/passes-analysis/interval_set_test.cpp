// IntervalSet against a plain bitmap.
#include "catch.h"
#include "passes/analysis/interval_set.h"

#include <algorithm>
#include <random>

using mscclc::passes::IntervalSet;

namespace {

TEST_CASE("random ranges, as a bitmap sees them") {
  for (const unsigned seed : {1u, 2u, 3u}) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    constexpr std::uint64_t size = 5000;
    IntervalSet set;
    std::vector<bool> bits(size + 20);
    for (int step = 0; step < 4000; ++step) {
      const std::uint64_t begin = random() % size, end = begin + random() % 3;
      if (random() % 2) {
        set.insert(begin, end);
        for (std::uint64_t i = begin; i < end; ++i)
          bits[i] = true;
      }
      if (random() % 8 == 0) {
        const std::uint64_t first = random() % size, last = first + random() % 40;
        set.erase(first, last);
        for (std::uint64_t i = first; i < std::min<std::uint64_t>(last, bits.size()); ++i)
          bits[i] = false;
      }
      const std::uint64_t from = random() % size, to = from + random() % 12;
      bool any = false;
      for (std::uint64_t i = from; i < to; ++i)
        any = any || bits[i];
      REQUIRE(set.meets(from, to) == any);
      if (step % 1500 == 1499) {
        set.clear();
        bits.assign(bits.size(), false);
      }
    }
  }
}

TEST_CASE("ends are open, empty ranges meet nothing") {
  IntervalSet set;
  set.insert(4, 4);
  CHECK_FALSE(set.meets(0, 100));
  set.insert(4, 6);
  CHECK_FALSE(set.meets(6, 7));
  CHECK_FALSE(set.meets(3, 4));
  CHECK_FALSE(set.meets(5, 5));
  CHECK(set.meets(5, 6));
}

} // namespace
