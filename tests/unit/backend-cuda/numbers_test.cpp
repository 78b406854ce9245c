#include "backend-cuda/numbers.h"

#include "backend-cuda/printer.h"

#include "catch.h"

using namespace mscclc::cuda;

namespace {

/// All blocks of all ranks.
std::vector<RankBlock> grid(int ranks, int blocks) {
  std::vector<RankBlock> all;
  for (int r = 0; r < ranks; ++r)
    for (int b = 0; b < blocks; ++b)
      all.push_back({r, b});
  return all;
}

std::string found(int ranks, int blocks, int items, const ValueOf &value, int steps = 1, int firstItem = 0) {
  Tables tables;
  const auto all = grid(ranks, blocks);
  const Expr formula = FormulaFinder(ranks, tables).expression({all, steps, firstItem, items}, value);
  return formula ? spell(formula) : "";
}

} // namespace

TEST_CASE("a number that does not vary is itself") {
  CHECK(found(8, 4, 3, [](const Sample &) { return 42; }) == "42");
  CHECK(found(1, 1, 1, [](const Sample &) { return 0; }) == "0");
}

TEST_CASE("affine numbers are sums") {
  CHECK(found(8, 4, 1, [](const Sample &s) { return 4 * s.rank + s.block + 2; }) == "4 * k.rank + k.block + 2");
  CHECK(found(4, 1, 5, [](const Sample &s) { return 20 - s.rank - 3 * s.item; }) == "-k.rank - 3 * i + 20");
  CHECK(found(4, 1, 1, [](const Sample &s) { return s.rank + 7 * s.step; }, 16) == "k.rank + 7 * j");
}

TEST_CASE("lists that leave out the rank itself") {
  const auto peer = [](const Sample &s) { return s.item < s.rank ? s.item : s.item + 1; };
  CHECK(found(8, 1, 7, peer) == "i + (i >= k.rank)");
  // The slot that the peer keeps for this rank.
  const auto slot = [](const Sample &s) { return s.item < s.rank ? s.rank - 1 : s.rank; };
  CHECK(found(8, 1, 7, slot) == "k.rank + (i >= k.rank) - 1");
  // The same after a first operand of another kind.
  CHECK(found(
            8, 1, 7, [&](const Sample &s) { return peer({s.rank, 0, 0, s.item - 1}); }, 1, 1) ==
        "i + (i > k.rank) - 1");
  // A block for each peer and instance.
  CHECK(found(4, 6, 1, [](const Sample &s) { return s.block / 2 < s.rank ? s.block / 2 : s.block / 2 + 1; }) ==
        "k.block / 2 + (k.block / 2 >= k.rank)");
}

TEST_CASE("rings are modular") {
  CHECK(found(8, 1, 1, [](const Sample &s) { return (s.rank + 1) % 8; }) == "mod(k.rank + 1, 8)");
  CHECK(found(8, 1, 7, [](const Sample &s) { return (s.rank + s.item + 1) % 8; }) == "mod(k.rank + i + 1, 8)");
  CHECK(found(8, 1, 1, [](const Sample &s) { return (s.rank + 16 - s.step) % 8; }, 16) == "mod(k.rank - j, 8)");
  CHECK(found(8, 2, 1, [](const Sample &s) { return (s.rank + 3) % 8 * 2 + s.block; }) ==
        "2 * mod(k.rank + 3, 8) + k.block");
  CHECK(found(8, 1, 56, [](const Sample &s) { return 7 * (s.item / 7) - s.item % 7 + 6; }) ==
        "7 * mod(i / 7, 8) - i % 7 + 6");
  CHECK(found(8, 1, 1, [](const Sample &s) { return s.rank / 4 * 4 + (s.rank + 1) % 4; }) ==
        "k.rank / 4 * 4 + mod(k.rank + 1, 4)");
  // After the chunks of another use; a channel to the next and one to the last rank, in each of two lanes.
  CHECK(found(8, 4, 1, [](const Sample &s) { return 32 + (s.rank + s.block) % 8 * 4; }) ==
        "4 * mod(k.rank + k.block, 8) + 32");
  CHECK(found(8, 1, 4, [](const Sample &s) { return (s.rank + (s.item % 2 == 0 ? 1 : 7)) % 8; }) ==
        "mod(k.rank - 2 * (i % 2) + 1, 8)");
}

TEST_CASE("a rank from which a number is another one") {
  CHECK(found(8, 1, 1, [](const Sample &s) { return s.rank < 3 ? 9 : 8; }) == "-(k.rank >= 3) + 9");
}

TEST_CASE("what has no formula becomes the smallest table") {
  Tables tables;
  const auto all = grid(4, 3);
  FormulaFinder finder(4, tables);
  const ValueOf odd = [](const Sample &s) { return std::vector{5, 1, 7, 7}[static_cast<std::size_t>(s.rank)]; };
  CHECK_FALSE(finder.expression({all}, odd));
  CHECK(spell(finder.expressionOrTable({all}, odd)) == "table0[k.rank]");
  REQUIRE(tables.all().size() == 1);
  CHECK(tables.all()[0].entries == std::vector<std::int64_t>{5, 1, 7, 7});
  // The same table serves again.
  CHECK(spell(finder.expressionOrTable({all}, odd)) == "table0[k.rank]");
  CHECK(tables.entries() == 4);
}

TEST_CASE("values nobody asks for do not disturb") {
  const auto value = [](const Sample &s) { return s.item > s.rank ? anyValue : std::int64_t{s.rank + 2 * s.item}; };
  CHECK(found(4, 1, 4, value) == "k.rank + 2 * i");
}

TEST_CASE("a formula is right for every sample it was found from") {
  // A wrong guess on the way must not survive: the value is affine but for one sample.
  const auto value = [](const Sample &s) { return s.rank == 6 && s.item == 5 ? 99 : s.rank + s.item; };
  CHECK(found(8, 1, 7, value).empty());
}

TEST_CASE("numbers as large as chunk counts can be take no longer") {
  constexpr std::int64_t large = 4'000'000'000;
  // A ring of large steps is found from either end.
  CHECK(found(
            4, 1, 1, [](const Sample &s) { return (s.rank + s.step) % 4 * large; }, 8) ==
        "4000000000 * mod(k.rank + j, 4)");
  CHECK(found(3, 1, 1, [](const Sample &s) { return (s.rank * 7 + s.step * s.step) % 5 * large; }, 8) == "");
}
