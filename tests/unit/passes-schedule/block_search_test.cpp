// By how much candidates pass an executor's limits says how many thread blocks to ask for next.
#include "catch.h"

#include "passes/schedule/block_search.h"

#include <optional>

namespace mscclc::passes::schedule {
namespace {

using Ask = BlockSearch::Ask;

TEST_CASE("as many blocks are asked for as the excess of one candidate needs", "[choose]") {
  BlockSearch search(128, true, true);
  search.refuse({1, 1}, {.times = 5.5, .blocks = 1});
  CHECK(search.next() == Ask{8, 1});
  search.refuse({8, 1}, {.times = 1.2, .blocks = 8}); // at least twice as many
  CHECK(search.next() == Ask{16, 1});
}

TEST_CASE("blocks that a rank has already, of stages, count in what is enough", "[choose]") {
  BlockSearch search(128, true, true);
  search.refuse({1, 1}, {.times = 3, .blocks = 6});
  CHECK(search.next() == Ask{32, 1});
}

TEST_CASE("two candidates tell what more blocks do not make smaller", "[choose]") {
  BlockSearch search(128, true, true);
  search.refuse({1, 1}, {.times = 4.5, .blocks = 1}); // 0.5 stays, 4 is shared
  CHECK(search.next() == Ask{8, 1});
  search.refuse({2, 1}, {.times = 2.5, .blocks = 2});
  CHECK(search.next() == Ask{8, 1});

  BlockSearch hopeless(128, true, true);
  hopeless.refuse({1, 1}, {.times = 2.5, .blocks = 1}); // 1.5 stays
  hopeless.refuse({2, 1}, {.times = 2, .blocks = 2});
  CHECK(hopeless.next() == Ask{128, 1});
  hopeless.refuse({128, 1}, {.times = 1.51, .blocks = 128});
  CHECK(hopeless.next() == std::nullopt);
}

TEST_CASE("instances make room for blocks, and go one by one where there are enough", "[choose]") {
  BlockSearch search(16, true, true);
  search.refuse({1, 4}, {.times = 8, .blocks = 1});
  CHECK(search.next() == Ask{8, 2});
  search.refuse({16, 1}, {.times = 1.1, .blocks = 16});
  CHECK(search.next() == std::nullopt);

  BlockSearch pinned(16, false, true);
  pinned.refuse({1, 4}, {.times = 8, .blocks = 1});
  CHECK(pinned.next() == Ask{1, 2});

  BlockSearch fixed(16, true, false);
  fixed.refuse({1, 4}, {.times = 8, .blocks = 1});
  CHECK(fixed.next() == Ask{4, 4});
}

TEST_CASE("where nothing is known, twice as many are asked for", "[choose]") {
  BlockSearch search(128, true, false);
  search.refuse({4, 1}, {});
  CHECK(search.next() == Ask{8, 1});
}

} // namespace
} // namespace mscclc::passes::schedule
