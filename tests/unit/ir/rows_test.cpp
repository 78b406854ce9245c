// Tests counts of slots, the places of rows, and which rows chunks hold.
#include "catch.h"
#include "ir/expert_places.h"
#include "ir/internal_error.h"

#include <algorithm>
#include <cstdint>
#include <limits>

using namespace mscclc::ir;

namespace {

/// Returns "begin+count" for each slot of a buffer, with these counts as given.
std::string places(RowLayout layout, BufferKind buffer, std::uint64_t capacity, std::uint64_t room,
                   const std::vector<std::int64_t> &given) {
  std::vector<RowCount> counts;
  for (const std::int64_t count : given)
    counts.push_back(rowCountOf(count, capacity));
  std::string text;
  const auto slots = static_cast<std::uint32_t>(given.size());
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    const RowRange place = rowPlace(rowBegin(layout, buffer, slots, slot), slot, capacity, room, counts);
    text += (slot == 0 ? "" : " ") + std::to_string(place.begin) + "+" + std::to_string(place.count);
  }
  return text;
}

constexpr auto most = std::numeric_limits<std::int64_t>::max();

} // namespace

TEST_CASE("a count is clamped to 0 and the capacity") {
  CHECK(rowCountOf(0, 4) == RowCount{0, 0, false});
  CHECK(rowCountOf(4, 4) == RowCount{4, 0, false});
  CHECK(rowCountOf(7, 4) == RowCount{4, 3, true});
  CHECK(rowCountOf(-1, 4) == RowCount{0, 0, true});
  CHECK(rowCountOf(std::numeric_limits<std::int64_t>::min(), 4) == RowCount{0, 0, true});
}

TEST_CASE("padded slots have their places, whatever the counts") {
  for (const BufferKind buffer : {BufferKind::Input, BufferKind::Output}) {
    CHECK(places(RowLayout::Padded, buffer, 4, 12, {2, 0, 4}) == "0+2 4+0 8+4");
    CHECK(places(RowLayout::Padded, buffer, 4, 12, {9, -1, 5}) == "0+4 4+0 8+4");
    CHECK(places(RowLayout::Padded, buffer, 4, 9, {4, 4, 4}) == "0+4 4+4 8+1");
  }
}

TEST_CASE("packed slots follow each other") {
  CHECK(places(RowLayout::Packed, BufferKind::Input, 4, 12, {2, 0, 4}) == "0+2 2+0 2+4");
  CHECK(places(RowLayout::Packed, BufferKind::Output, 4, 12, {2, 0, 4}) == "0+2 2+0 2+4");
  // The offsets of an input are sums of the counts as given. The rows behind its end do not exist.
  CHECK(places(RowLayout::Packed, BufferKind::Input, 4, 12, {7, -3, 2}) == "0+4 7+0 7+2");
  CHECK(places(RowLayout::Packed, BufferKind::Output, 4, 12, {7, -3, 2}) == "0+4 4+0 4+2");
  CHECK(places(RowLayout::Packed, BufferKind::Input, 4, 12, {5, 5, 5}) == "0+4 5+4 10+2");
  CHECK(places(RowLayout::Packed, BufferKind::Input, 4, 12, {13, 1, 1}) == "0+4 12+0 12+0");
  CHECK(places(RowLayout::Packed, BufferKind::Output, 4, 5, {2, 4, 4}) == "0+2 2+3 5+0");
}

TEST_CASE("the cells of experts follow each other in groups") {
  // Two ranks with three experts each, and a capacity of 4.
  const auto begins = [](const ExpertCells &cells, const std::vector<std::uint64_t> &live) {
    std::vector<RowCount> counts;
    for (const std::uint64_t count : live)
      counts.push_back({.live = count});
    std::string text;
    for (std::uint32_t number = 0; number < cells.count(); ++number)
      text += (number == 0 ? "" : " ") + std::to_string(cells.begin(number).valueOf(4, counts));
    return text;
  };
  const ExpertCells byExpert{2, 3, ExpertLayout::ExpertMajor}, byRank{2, 3, ExpertLayout::RankMajor};
  CHECK(begins(byExpert, {1, 4, 0, 2, 3, 3}) == "0 1 8 8 16 19");
  CHECK(begins(byRank, {1, 4, 0, 2, 3, 3}) == "0 1 5 12 14 17");
  CHECK(byExpert.number(1, 2) == 5);
  CHECK(byExpert.number(1, 0) == 1);
  CHECK(byRank.number(1, 0) == 3);
  const std::vector<RowCount> counts{{.live = 2}, {.live = 1}, {.live = 4}};
  CHECK(byExpert.beginInSlot(2).valueOf(4, counts) == 3);
}

TEST_CASE("each live row of a group is in one block that is handed over") {
  for (std::uint64_t rows = 1; rows < 9; ++rows)
    for (std::uint64_t most = 0; most < 20; ++most)
      for (std::uint64_t live = 0; live <= most; ++live) {
        const ReadyBlocks blocks{rows, most};
        std::uint64_t all = 0;
        for (std::uint64_t block = 0; block < blocks.perGroup(); ++block) {
          REQUIRE((blocks.rowsOf(block, live) == 0 || all == block * rows));
          all += blocks.rowsOf(block, live);
        }
        REQUIRE(all == live);
        REQUIRE(blocks.rowsOf(blocks.perGroup(), live) == 0);
      }
}

TEST_CASE("cells of groups that follow each other are disjoint for all counts") {
  // By exhaustion of small sizes; two ranks with two experts each.
  constexpr std::uint64_t most = 3;
  for (const ExpertLayout layout : {ExpertLayout::ExpertMajor, ExpertLayout::RankMajor})
    for (const std::uint32_t align : {0u, 1u, 2u, 4u, 5u, 7u}) {
      const ExpertPlaces places{{2, 2, layout}, most, align};
      for (unsigned mixture = 0; mixture < 256; ++mixture) {
        std::vector<RowCount> counts(4);
        for (std::size_t i = 0; i < 4; ++i)
          counts[i].live = mixture >> 2 * i & 3;
        const std::vector<std::uint64_t> begins = places.begins(counts);
        std::uint64_t end = 0, taken = 0;
        for (std::size_t cell = 0; cell < 4; ++cell) {
          if (cell % 2 == 0) { // a group begins
            REQUIRE(begins[cell] == taken);
            REQUIRE((align == 0 ? begins[cell] == cell * most : begins[cell] % align == 0));
            const std::uint64_t rows = counts[cell].live + counts[cell + 1].live;
            if (align > 1)
              taken += rows == 0 ? align : (rows + align - 1) / align * align;
            else
              taken += align == 0 ? 2 * most : rows;
          }
          REQUIRE(begins[cell] >= end);
          end = begins[cell] + counts[cell].live;
        }
        REQUIRE(end <= places.room());
      }
    }
}

TEST_CASE("the alignment of groups") {
  ExpertPlaces places{{2, 3, ExpertLayout::ExpertMajor}, 4, 4};
  const std::vector<RowCount> counts{{.live = 1}, {.live = 4}, {}, {}, {.live = 3}, {.live = 3}};
  CHECK(places.begins(counts) == std::vector<std::uint64_t>{0, 1, 8, 8, 12, 15}); // an empty group takes four
  CHECK(places.room() == 24);
  places.align = 1;
  CHECK(places.begins(counts) == std::vector<std::uint64_t>{0, 1, 5, 5, 5, 8});
  places.align = 5;
  CHECK(places.room() == 30);
}

TEST_CASE("sums of huge counts do not overflow") {
  CHECK(places(RowLayout::Packed, BufferKind::Input, 4, 16, {most, most, most, 1}) == "0+4 16+0 16+0 16+0");
}

TEST_CASE("the least value of a sum of rows") {
  CHECK(RowSum{2, {{1, 0}, {0, 1}}}.least() == 2);
  CHECK(RowSum{2, {{-1, 0}, {-2, 3}}}.least() == -1);
  CHECK(RowSum{2, {{0, -1}}}.least() == std::nullopt);
}

TEST_CASE("chunks hold parts of slots") {
  Program program;
  program.collective = {.kind = CollectiveKind::AllToAllV, .name = "alltoallv"};
  program.ranks.resize(3);
  for (Rank &rank : program.ranks)
    rank.inputChunks = rank.outputChunks = 6; // two instances
  CHECK(rowPartOf(program, 1, BufferKind::Input, 4) == RowPart{1, 2, 0, 2});
  CHECK(rowPartOf(program, 1, BufferKind::Output, 5) == RowPart{2, 1, 1, 2});

  Rank &rank = program.ranks[1];
  rank.scratchChunks = 2;
  ThreadBlock &block = rank.blocks.emplace_back();
  block.chunks = {{ChunkSpace::Input, 2, 2, 0}, {ChunkSpace::Scratch, 0, 2, 0}};
  block.ops.push_back({.kind = OpKind::Copy, .numSrcs = 1, .numDsts = 1});
  RowSlots slots;
  slots.set({1, 0, 0}, 0, 0, {1, 2});
  slots.set({1, 0, 0}, 0, 1, {1, 3});
  CHECK(slots.of(program, {1, 0, 0}, 0, 1) == RowPart{1, 1, 1, 2});
  CHECK(slots.of(program, {1, 0, 0}, 1, 0) == RowPart{1, 1, 0, 2}); // a destination holds what its source does
  CHECK_THROWS_AS(slots.of(program, {1, 0, 0}, 0, 2), InternalError);
}
