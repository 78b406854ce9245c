// In which order sums are taken, and where they are narrowed.
#include "algorithms.h"
#include "prove.h"

#include "passes/verify/values.h"

#include <array>

using namespace plan;
using namespace mscclc::passes;

namespace {

constexpr std::uint32_t ranks = 4;

/// Every rank gets its share from all into scratch [0, ranks), and more scratch, and sums it by `add`.
Plan sums(const std::function<void(Block &, std::uint32_t rank)> &add, std::uint32_t inputs = ranks) {
  Plan p(CollectiveKind::ReduceScatter, ranks, inputs, inputs / ranks, false, inputs + 2);
  p.connectAll();
  for (std::uint32_t r = 0; r < ranks; ++r) {
    Block b = p.on(r);
    Chunks from, to;
    for (std::uint32_t q = 0; q < ranks; ++q)
      if (q != r) {
        from.push_back(b.of(q, BufferKind::Input, r));
        to.push_back(scratch(q));
      }
    b.relaxedSignal(p.allChannels()).relaxedWait(p.allChannels()).copy(scratch(r), in(r)).nop();
    b.remote(OpKind::Get, to, from, ChannelType::Memory, p.allChannels()).nop();
    add(b, r);
    b.nop().relaxedSignal(p.allChannels()).relaxedWait(p.allChannels());
  }
  return p;
}

SumOrder orderOf(const Plan &plan) {
  const Proof proof = prove(plan.program);
  CHECK(proof.result.proven);
  return proof.result.sums;
}

Chunks arrived(std::initializer_list<std::uint32_t> order) {
  Chunks chunks;
  for (const std::uint32_t rank : order)
    chunks.push_back(scratch(rank));
  return chunks;
}

} // namespace

TEST_CASE("a chain in the order of ranks") {
  const SumOrder order = orderOf(sums([](Block &b, std::uint32_t) { b.reduce(out(0), arrived({0, 1, 2, 3})); }));
  CHECK(order.isInvariant());
  CHECK(order.sentence() == "sums: ((0+1)+2)+3 everywhere, narrowed once");
  CHECK(order.family() == "Ranks");
  CHECK(order.exact == "((0+1)+2)+3");
}

TEST_CASE("the first two operands of a step commute, and no others") {
  CHECK(orderOf(sums([](Block &b, std::uint32_t r) {
          b.reduce(out(0), r == 0 ? arrived({1, 0, 2, 3}) : arrived({0, 1, 2, 3}));
        })).isInvariant());
  for (const auto &other : {std::array<std::uint32_t, 4>{2, 1, 0, 3}, {0, 1, 3, 2}, {3, 2, 1, 0}}) {
    const SumOrder order = orderOf(sums([&](Block &b, std::uint32_t r) {
      b.reduce(out(0), r == 0 ? arrived({other[0], other[1], other[2], other[3]}) : arrived({0, 1, 2, 3}));
    }));
    CHECK_FALSE(order.isInvariant());
    CHECK(order.family() == "none");
    REQUIRE(order.chunksDiffer);
    CHECK(order.chunksDiffer->second.tree == "0+1+2+3");
    CHECK_FALSE(order.chunksDiffer->sameOrder);
    CHECK_FALSE(order.ranksDiffer); // no two ranks have the same share
  }
}

TEST_CASE("the tree of halves, in operations that narrow") {
  const SumOrder order = orderOf(sums([](Block &b, std::uint32_t) {
    b.reduce(scratch(4), arrived({0, 1})).reduce(scratch(5), arrived({3, 2})).nop();
    b.reduce(out(0), arrived({5, 4}));
  }));
  CHECK(order.isInvariant());
  CHECK(order.sentence() == "sums: (0+1)+(2+3) everywhere, narrowed 3 times");
  CHECK(order.family() == "Tree");
  CHECK(order.exact == "[0+1]+[2+3]");
}

TEST_CASE("chunks of one order that narrow at other steps are not equal bit by bit") {
  const SumOrder order = orderOf(sums([](Block &b, std::uint32_t r) {
    if (r == 0)
      b.reduce(scratch(4), arrived({0, 1})).nop().reduce(out(0), arrived({4, 2, 3}));
    else
      b.reduce(out(0), arrived({0, 1, 2, 3}));
  }));
  REQUIRE(order.chunksDiffer);
  CHECK(order.chunksDiffer->sameOrder);
  CHECK(order.chunksDiffer->first.tree == "([0+1]+2)+3");
  CHECK(order.chunksDiffer->second.tree == "((0+1)+2)+3");
}

TEST_CASE("a minimum has no order") {
  const SumOrder order = orderOf(sums([](Block &b, std::uint32_t r) {
    b.reduce(out(0), r == 0 ? arrived({3, 2, 1, 0}) : arrived({0, 1, 2, 3}), ReduceOp::Min);
  }));
  CHECK_FALSE(order.any);
  CHECK(order.sentence() == "");
}

TEST_CASE("chunks that are to hold the same sum are compared, on one rank too") {
  Plan p(CollectiveKind::Custom, 1, 3, 2);
  p.program.collective.expectations = {{0, 0, {{0, 0}, {0, 1}, {0, 2}}, noLoc},
                                       {0, 1, {{0, 2}, {0, 1}, {0, 0}}, noLoc}};
  p.on(0).reduce(out(0), {in(0), in(1), in(2)}).reduce(out(1), {in(1), in(0), in(2)});
  CHECK(orderOf(p).sentence() == "sums: (0[0]+0[1])+0[2] everywhere, narrowed once");
  p.program.ranks[0].blocks.clear();
  p.on(0).reduce(out(0), {in(0), in(1), in(2)}).reduce(out(1), {in(2), in(1), in(0)});
  const SumOrder order = orderOf(p);
  REQUIRE(order.ranksDiffer);
  CHECK(order.ranksDiffer->first.tree == "0[0]+0[1]+0[2]");
  CHECK(order.ranksDiffer->second.tree == "0[1]+0[2]+0[0]");
}

TEST_CASE("two reductions of three by a switch are never equal") {
  for (const std::uint32_t n : {2u, 3u}) {
    Plan p(CollectiveKind::Test, n, 1, 1);
    proof::ProgramIndex index(p.program);
    proof::Values values(index, 1);
    std::vector<proof::ValueId> parts;
    for (std::uint32_t r = 0; r < n; ++r)
      parts.push_back(values.input(r, 0));
    const proof::ValueId first = values.inSwitch(ReduceOp::Sum, parts), second = values.inSwitch(ReduceOp::Sum, parts);
    CHECK((first == second) == (n == 2));
    CHECK((values.chain(ReduceOp::Sum, parts) == first) == (n == 2));
    CHECK(values.check(second, parts).kind == proof::Values::Verdict::Right);
    // Also when the table has grown since.
    for (std::uint32_t i = 0; i < 3000; ++i)
      parts[0] = values.chain(ReduceOp::Sum, std::vector{parts[0], parts[1]});
    CHECK(values.inSwitch(ReduceOp::Sum, parts) != first);
  }
}
