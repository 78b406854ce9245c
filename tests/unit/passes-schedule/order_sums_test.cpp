// The operands of sums in the order that a program asks for.
#include "statements.h"

#include "ir/chunk_cells.h"
#include "passes/schedule/order_sums.h"

using namespace mscclc;
using namespace mscclc::passes::schedule;
using ir::CollectiveKind;
using ir::Order;
using ir::ReduceOp;

namespace {

struct Ordered {
  Lines statements;
  std::string text; ///< all findings
};

Ordered order(Statements statements, Order order) {
  ir::Program &program = statements.program;
  program.movement.order = order;
  CHECK(ask(program).text == "");
  ir::DiagnosticEngine diags;
  const bool good = orderSums(program, diags);
  CHECK(good == !diags.hasErrors());
  Ordered ordered{linesOf(program.movement), diags.render(false)};
  if (good) { // the same sums, and nothing left to order
    CHECK(ask(program).text == "");
    const std::size_t before = program.movement.statements.size();
    CHECK(orderSums(program, diags));
    CHECK(program.movement.statements.size() == before);
  }
  return ordered;
}

/// Rank 0 sums chunk 0 of all, in this order.
Statements sumOf(const std::vector<std::uint32_t> &ranks, ReduceOp op = ReduceOp::Sum) {
  Statements s(CollectiveKind::Reduce, static_cast<std::uint32_t>(ranks.size()), 1, 1);
  RankChunks srcs;
  for (const std::uint32_t rank : ranks)
    srcs.push_back(in(rank, 0));
  s.reduce({out(0, 0)}, srcs, op);
  return s;
}

/// Share `share` goes around, from the rank after it on.
Statements ringStatements(std::uint32_t ranks) {
  Statements s(CollectiveKind::ReduceScatter, ranks, ranks, 1, true);
  for (std::uint32_t share = 0; share < ranks; ++share)
    for (std::uint32_t step = 2; step <= ranks; ++step) {
      const std::uint32_t here = (share + step) % ranks, before = (share + step - 1) % ranks;
      s.reduce({in(here, share)}, {in(here, share), in(before, share)});
    }
  return s;
}

} // namespace

TEST_CASE("operands are sorted by their ranks") {
  CHECK(order(sumOf({2, 0, 3, 1}), Order::Ranks).statements == Lines{"0.o0 <- 0.i0 1.i0 2.i0 3.i0"});
  CHECK(order(sumOf({2, 0, 3, 1}), Order::Written).statements == Lines{"0.o0 <- 2.i0 0.i0 3.i0 1.i0"});
  CHECK(order(sumOf({2, 0, 3, 1}), Order::Any).statements == Lines{"0.o0 <- 2.i0 0.i0 3.i0 1.i0"});
  CHECK(order(sumOf({2, 0, 3, 1}, ReduceOp::Prod), Order::Ranks).statements == Lines{"0.o0 <- 0.i0 1.i0 2.i0 3.i0"});
  CHECK(order(sumOf({2, 0, 3, 1}, ReduceOp::Max), Order::Ranks).statements == Lines{"0.o0 <- 2.i0 0.i0 3.i0 1.i0"});
}

TEST_CASE("a tree takes its second halves apart") {
  CHECK(order(sumOf({1, 0}), Order::Tree).statements == Lines{"0.o0 <- 0.i0 1.i0"});
  CHECK(order(sumOf({2, 1, 0}), Order::Tree).statements == Lines{"0.o0 <- 0.i0 1.i0 2.i0"});
  CHECK(order(sumOf({2, 0, 3, 1}), Order::Tree).statements == Lines{"0.s0 <- 2.i0 3.i0", "0.o0 <- 0.i0 1.i0 0.s0"});
  CHECK(order(sumOf({6, 5, 4, 3, 2, 1, 0}), Order::Tree).statements ==
        Lines{"0.s0 <- 2.i0 3.i0", "0.s1 <- 4.i0 5.i0 6.i0", "0.o0 <- 0.i0 1.i0 0.s0 0.s1"});
}

TEST_CASE("partial sums may be operands where they fit") {
  Statements s(CollectiveKind::Reduce, 4, 1, 1, false, 1);
  s.reduce({scratch(2, 0)}, {in(3, 0), in(2, 0)}).reduce({scratch(0, 0)}, {in(1, 0), in(0, 0)});
  Statements tree = s, chain = s;
  tree.reduce({out(0, 0)}, {scratch(2, 0), scratch(0, 0)});
  chain.reduce({out(0, 0)}, {in(3, 0), scratch(0, 0), in(2, 0)});
  CHECK(order(tree, Order::Tree).statements.back() == "0.o0 <- 0.s0 2.s0");
  CHECK(order(tree, Order::Ranks).text ==
        "statement 2: error: this sum cannot be taken in the order of ranks (Order::Ranks): scratch[0] of rank 2 is "
        "already made of ranks 2 to 3, and scratch[0] of rank 0 has ranks 0 to 1, which comes before or between: let "
        "one statement combine the inputs of all ranks [sum-not-in-order]\n1 error generated.\n");
  CHECK(order(chain, Order::Ranks).statements.back() == "0.o0 <- 0.s0 2.i0 3.i0");
  CHECK(order(chain, Order::Tree).statements.back() == "0.o0 <- 0.s0 0.s1");
}

TEST_CASE("a ring begins each share at another rank, so it has no order of ranks") {
  CHECK(order(ringStatements(2), Order::Ranks).text == "");
  CHECK(order(ringStatements(3), Order::Ranks).text ==
        "statement 1: error: this sum cannot be taken in the order of ranks (Order::Ranks): input[0] of rank 2 is "
        "already made of ranks 1 to 2, and input[0] of rank 0 has rank 0, which comes before or between: let one "
        "statement combine the inputs of all ranks [sum-not-in-order]\n"
        "statement 3: error: this sum cannot be taken in the order of ranks (Order::Ranks): input[1] of rank 0 is "
        "already made of some of ranks 0 to 2, and input[1] of rank 1 has rank 1, which comes before or between: let "
        "one statement combine the inputs of all ranks [sum-not-in-order]\n2 errors generated.\n");
}

TEST_CASE("partial sums that are no half, or lie between others") {
  Statements s(CollectiveKind::Reduce, 4, 1, 1, false, 1);
  Statements middle = s, apart = s;
  middle.reduce({scratch(0, 0)}, {in(1, 0), in(2, 0)}).reduce({out(0, 0)}, {in(0, 0), scratch(0, 0), in(3, 0)});
  CHECK(order(middle, Order::Tree).text ==
        "statement 1: error: this sum cannot be the tree of Order::Tree: the first half of what it combines is 2 "
        "inputs, and scratch[0] of rank 0 has ranks 1 to 2, which is in both halves: let one statement combine the "
        "inputs of all ranks, or halves of them [sum-no-tree]\n1 error generated.\n");
  apart.reduce({scratch(0, 0)}, {in(0, 0), in(2, 0)}).reduce({scratch(1, 0)}, {in(1, 0), in(3, 0)});
  apart.reduce({out(0, 0)}, {scratch(0, 0), scratch(1, 0)});
  CHECK(order(apart, Order::Tree).text ==
        "statement 2: error: this sum cannot be the tree of Order::Tree: scratch[0] of rank 1 is already made of some "
        "of ranks 1 to 3, and scratch[0] of rank 0 has some of ranks 0 to 2, which comes between: let one statement "
        "combine the inputs of all ranks, or halves of them [sum-mixed]\n1 error generated.\n");
}

TEST_CASE("chunks of one statement that want different orders") {
  Statements s(CollectiveKind::Custom, 3, 3, 3, false);
  s.program.collective.expectations = {{0, 0, {{0, 0}, {1, 0}, {2, 0}}, ir::noLoc},
                                       {0, 1, {{0, 1}, {1, 1}, {2, 1}}, ir::noLoc},
                                       {0, 2, {{0, 2}, {1, 2}, {2, 2}}, ir::noLoc}};
  s.copy({out(0, 0, 2)}, in(1, 0, 2)).copy({out(0, 2)}, in(0, 2));
  s.copy({out(1, 0, 2)}, in(0, 0, 2)).copy({out(1, 2)}, in(1, 2));
  s.reduce({out(0, 0, 3)}, {in(2, 0, 3), out(0, 0, 3), out(1, 0, 3)});
  const Lines lines = order(s, Order::Ranks).statements;
  CHECK(Lines(lines.end() - 2, lines.end()) == Lines{"0.o0:2 <- 1.o0:2 0.o0:2 2.i0:2", "0.o2 <- 0.o2 1.o2 2.i2"});
}
