// Tests programs of rows: what they may not do, which rows operations move, and that places of slots are disjoint.
#include "prove.h"

#include "ir/internal_error.h"
#include "ir/rows.h"
#include "passes/verify/rows.h"

using namespace plan;
using mscclc::passes::proof::placesHold;

namespace {

/// Each of two ranks copies its own slot and puts the other one into `chunk` of the peer, `peer ^ wrong`.
Plan exchange(RowLayout layout = RowLayout::Packed, std::uint32_t wrong = 0) {
  Plan p(CollectiveKind::AllToAllV, 2, 2, 2, false, 2);
  p.program.collective.rows = layout;
  p.connectAll();
  for (std::uint32_t r = 0; r < 2; ++r) {
    Block b = p.on(r);
    b.copy(out(r), in(r)).relaxedSignal({0}).relaxedWait({0}).nop();
    b.remote(OpKind::Put, {b.of(1 - r, BufferKind::Output, r ^ wrong)}, {in(1 - r)}).nop().signal({0}).wait({0});
  }
  return p;
}

bool holds(RowLayout layout, BufferKind buffer, bool fits) {
  return placesHold(5, [&](std::uint32_t slot) { return rowBegin(layout, buffer, 5, slot); }, fits);
}

/// Returns whether the packed places of an output hold after `change(begin, slot)`.
template <typename Change> bool holdsChanged(Change change) {
  return placesHold(
      5,
      [&](std::uint32_t slot) {
        RowSum begin = rowBegin(RowLayout::Packed, BufferKind::Output, 5, slot);
        change(begin, slot);
        return begin;
      },
      true);
}

} // namespace

TEST_CASE("a program of rows is proven for all counts, and what operations move is known") {
  for (const RowLayout layout : {RowLayout::Padded, RowLayout::Packed}) {
    const Program program = exchange(layout).program;
    const Proof proof = prove(program);
    INFO(proof.text);
    CHECK(proof.result.proven);
    CHECK(proof.result.summary().starts_with("proven: 2 ranks, 2 launches, all counts up to the capacity: "));
    CHECK(proof.result.rows.of(program, {0, 0, 0}, 0, 0) == RowPart{0, 0, 0, 1});
    CHECK(proof.result.rows.of(program, {1, 0, 4}, 0, 0) == RowPart{1, 0, 0, 1});
    CHECK(proof.result.rows.of(program, {1, 0, 4}, 1, 0) == RowPart{1, 0, 0, 1});
  }
}

TEST_CASE("rows that pass through scratch are followed") {
  Plan p(CollectiveKind::AllToAllV, 1, 2, 2, false, 2); // two instances
  p.on(0).copy(scratch(0, 2), in(0, 2)).nop().copy(out(0), scratch(0)).copy(out(1), scratch(1));
  const Proof proof = prove(p.program);
  INFO(proof.text);
  CHECK(proof.result.proven);
  CHECK(proof.result.rows.of(p.program, {0, 0, 0}, 1, 1) == RowPart{0, 0, 1, 2});
  CHECK(proof.result.rows.of(p.program, {0, 0, 3}, 0, 0) == RowPart{0, 0, 1, 2});
}

TEST_CASE("rows_misplaced") {
  for (const RowLayout layout : {RowLayout::Padded, RowLayout::Packed}) {
    const Proof proof = prove(exchange(layout, 1).program);
    INFO(proof.text);
    CHECK(proof.says("rank 1, block 0, operation 4: error: output[0] of rank 0 has room for the rows that rank 0 sends "
                     "to rank 0, but those that rank 1 sends to rank 0 are written there: let them pass through "
                     "scratch"));
  }
}

TEST_CASE("rows_unknown") {
  Plan p = exchange();
  p.on(0).copy(scratch(1), scratch(0));
  const Proof proof = prove(p.program);
  CHECK(proof.ids == std::vector<std::string>{"rows_unknown"});
  CHECK(proof.says("rank 0, block 0, operation 8: error: 'copy' moves scratch[0] of rank 0, which holds the rows of no "
                   "slot at this point"));
}

TEST_CASE("rows_operation") {
  const auto fault = [](auto add) {
    Plan p = exchange();
    Block b = p.on(0);
    add(p, b);
    return prove(p.program);
  };
  const std::string place = "rank 0, block 0, operation 8: error: ";
  CHECK(fault([](Plan &, Block &b) {
          b.reduce(out(0), {out(0), scratch(0)});
        }).says(place + "'re' is not for rows: it computes elements, and rows are only moved"));
  CHECK(fault([](Plan &, Block &b) { b.pipeline(16, 1, 1).nop(); })
            .says(place + "'pipeline' is not for rows: a pipeline divides chunks by bytes, and the number of live rows "
                          "is not known"));
  CHECK(fault([](Plan &, Block &b) { b.copy(out(0), in(0)).slice(0, 2); })
            .says(place + "'copy' is not for rows: a thread-block group divides chunks by bytes, and the number of "
                          "live rows is not known"));
  CHECK(fault([](Plan &, Block &b) { b.copy(in(0), in(0)); })
            .says(place + "'copy' is not for rows: it writes to an input, whose rows lie where the counts say: use "
                          "scratch"));
  CHECK(fault([](Plan &, Block &b) { b.remote(OpKind::CopyPacket, {scratch(0)}, {in(0)}, ChannelType::None); })
            .says(place + "'cpkt' is not for rows: packets of rows that are not live are never sent, so what they "
                          "order depends on counts"));
  CHECK(fault([](Plan &p, Block &b) {
          p.switchChannel(BufferKind::Output);
          b.remote(OpKind::SwitchBroadcast, {onSwitch(0, 0)}, {in(0)}, ChannelType::Switch, {0});
        }).says("is not for rows: a switch reaches one place on all ranks, and the places of rows differ"));
}

TEST_CASE("rows_rank_idle") {
  Plan p = exchange();
  p.program.ranks[1].blocks.clear();
  const Proof proof = prove(p.program);
  CHECK(proof.says("rank 1: error: rank 1 has no thread block, so it would neither send its counts nor await those of "
                   "others: let it take part"));
}

TEST_CASE("a race is one for programs of rows, too") {
  const Program program = exchange().program;
  for (const std::uint32_t op : {1u, 2u, 6u, 7u})
    CHECK_FALSE(prove(without(program, 0, 0, op)).result.proven);
}

TEST_CASE("the places of slots are disjoint for all counts") {
  CHECK(holds(RowLayout::Padded, BufferKind::Input, true));
  CHECK(holds(RowLayout::Padded, BufferKind::Output, true));
  CHECK(holds(RowLayout::Packed, BufferKind::Output, true));
  CHECK(holds(RowLayout::Packed, BufferKind::Input, false));
  // Counts above the capacity make a packed input longer than its buffer.
  CHECK_FALSE(holds(RowLayout::Packed, BufferKind::Input, true));
}

TEST_CASE("a program with experts is proven for all indices") {
  for (const CollectiveKind kind : {CollectiveKind::Dispatch, CollectiveKind::Combine}) {
    Plan p = exchange(RowLayout::Padded);
    p.program.collective.kind = kind;
    p.program.collective.experts = 3;
    const Proof proof = prove(p.program);
    INFO(proof.text);
    CHECK(proof.result.proven);
    CHECK(proof.result.summary().starts_with("proven: 2 ranks, 2 launches, all indices of experts: "));
    CHECK_FALSE(prove(without(p.program, 0, 0, 2)).result.proven);
  }
}

namespace {

/// Two thread blocks make the rows of two blocks that are handed over, each a part of both, and count them in the
/// block's word. The user waits for the two parts of a word, and reads the rows: the user of a dispatch, or a combine.
/// The next launch makes them anew. `early`: the first maker counts its part of the second word before it makes it.
/// `reads`: so many reads of the user come before its waits.
Program handedOver(bool early = false, std::uint32_t reads = 0) {
  Plan p(CollectiveKind::Test, 1, 4, 4, false, 4);
  for (std::uint32_t word = 0; word < 2; ++word)
    p.semaphore(0);
  for (std::uint32_t maker = 0; maker < 2; ++maker) {
    Block b = p.on(0, maker);
    b.copy(scratch(maker), in(maker)).nop().release({0});
    if (early && maker == 0)
      b.release({1}).copy(scratch(2), in(2)).nop();
    else
      b.copy(scratch(2 + maker), in(2 + maker)).nop().release({1});
  }
  Block user = p.on(0, 2);
  for (std::uint32_t row = 0; row < reads; ++row)
    user.copy(out(row), scratch(row));
  for (std::uint32_t word = 0; word < 2; ++word) {
    user.acquire({word}).acquire({word}).nop();
    for (std::uint32_t row = std::max(2 * word, reads); row < 2 * word + 2; ++row)
      user.copy(out(row), scratch(row));
  }
  return p.program;
}

} // namespace

TEST_CASE("rows that are handed over by words are there, and may be made anew at the next launch") {
  const Program program = handedOver();
  const Proof proof = prove(program);
  INFO(proof.text);
  CHECK(proof.result.proven);
  CHECK_FALSE(prove(handedOver(true)).result.proven);                     // a word that counts rows too early
  CHECK_FALSE(prove(handedOver(false, 1)).result.proven);                 // rows that are read before their word
  for (const auto &[block, op] : {std::pair{0u, 1u}, {1u, 4u}, {2u, 2u}}) // a word without release, or without acquire
    CHECK_FALSE(prove(without(program, 0, block, op)).result.proven);
}

TEST_CASE("the cells of experts are disjoint for all counts") {
  using mscclc::passes::proof::expertCellsHold;
  for (const ExpertLayout layout : {ExpertLayout::ExpertMajor, ExpertLayout::RankMajor})
    for (const std::uint32_t ranks : {1u, 2u, 5u})
      for (const std::uint32_t experts : {1u, 3u, 8u})
        CHECK(expertCellsHold({ranks, experts, layout}));
  // Groups that overlap, or reach beyond the buffer.
  const ExpertCells cells{3, 2, ExpertLayout::ExpertMajor};
  const auto holds = [&](auto change) {
    return placesHold(
        cells.count(),
        [&](std::uint32_t number) {
          RowSum begin = cells.begin(number);
          change(begin, number);
          return begin;
        },
        true);
  };
  CHECK(holds([](RowSum &, std::uint32_t) {}));
  CHECK_FALSE(holds([](RowSum &begin, std::uint32_t number) { // groups of two, not of three
    begin.capacities = number / 2 * 2;
  }));
  CHECK_FALSE(holds([](RowSum &begin, std::uint32_t number) { // a cell that is left out
    if (number == 2)
      begin.slots[1].live = 0;
  }));
  CHECK_FALSE(holds([](RowSum &begin, std::uint32_t) { ++begin.capacities; }));
}

TEST_CASE("other places of slots are refused") {
  CHECK(holdsChanged([](RowSum &, std::uint32_t) {}));
  CHECK_FALSE(holdsChanged([](RowSum &begin, std::uint32_t slot) { // without the slot before
    if (slot == 3)
      begin.slots[2].live = 0;
  }));
  CHECK_FALSE(holdsChanged([](RowSum &begin, std::uint32_t slot) { // a slot twice
    if (slot == 2)
      begin.slots[0].live = 2;
  }));
  CHECK_FALSE(holdsChanged([](RowSum &begin, std::uint32_t) { ++begin.capacities; }));
  CHECK_FALSE(holdsChanged([](RowSum &begin, std::uint32_t) { --begin.capacities; }));
  CHECK_FALSE(holdsChanged([](RowSum &begin, std::uint32_t slot) { // sums that end with the slot itself
    begin.slots[slot].live = 1;
    begin.slots[0].live = 0;
  }));
  CHECK_FALSE(holdsChanged([](RowSum &begin, std::uint32_t slot) { // the counts as they are given
    for (std::uint32_t before = 0; before < slot; ++before)
      begin.slots[before].excess = 1;
  }));
  CHECK_FALSE(holdsChanged([](RowSum &begin, std::uint32_t slot) { // rows above the capacity taken away
    if (slot == 4)
      begin.slots[1].excess = -1;
  }));
}
