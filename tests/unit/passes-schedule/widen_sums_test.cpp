// Partial results of a program of Accumulate::Wide, which lie in scratch.
#include "statements.h"

#include "passes/schedule/widen_sums.h"

using namespace mscclc;
using namespace mscclc::passes::schedule;
using ir::Accumulate;
using ir::CollectiveKind;
using ir::ReduceOp;

namespace {

struct Widened {
  Lines statements;
  Accumulate accumulate;
  std::vector<std::uint32_t> scratch; ///< [rank]: chunks
};

Widened widen(Statements statements) {
  ir::Program &program = statements.program;
  program.movement.accumulate = Accumulate::Wide;
  CHECK(ask(program).text == "");
  ir::DiagnosticEngine diags;
  CHECK(widenSums(program, false, diags));
  CHECK(diags.render(false) == "");
  CHECK(ask(program).text == ""); // the same results
  Widened widened{linesOf(program.movement), program.movement.accumulate, {}};
  for (const ir::Rank &rank : program.ranks)
    widened.scratch.push_back(rank.scratchChunks);
  return widened;
}

/// A chain from rank 0 to the last rank, which has the result.
Statements chain(std::uint32_t ranks, ReduceOp op = ReduceOp::Sum) {
  Statements s(CollectiveKind::Reduce, ranks, 1, 1, false, 1);
  s.program.collective.root = ranks - 1;
  s.reduce({out(1, 0)}, {in(0, 0), in(1, 0)}, op);
  for (std::uint32_t rank = 2; rank < ranks; ++rank)
    s.reduce({out(rank, 0)}, {out(rank - 1, 0), in(rank, 0)}, op);
  return s;
}

} // namespace

TEST_CASE("partial sums move to scratch, and the result does not") {
  const Widened widened = widen(chain(4));
  CHECK(widened.statements == Lines{"1.s1 <- 0.i0 1.i0", "2.s1 <- 1.s1 2.i0", "3.o0 <- 2.s1 3.i0"});
  CHECK(widened.accumulate == Accumulate::Wide);
  CHECK(widened.scratch == std::vector<std::uint32_t>{1, 2, 2, 1});
}

TEST_CASE("a program without partial sums needs no wide scratch") {
  CHECK(widen(chain(2)).accumulate == Accumulate::Once);
  CHECK(widen(chain(2)).statements == Lines{"1.o0 <- 0.i0 1.i0"});
  for (const ReduceOp op : {ReduceOp::Min, ReduceOp::Max}) // they round nothing
    CHECK(widen(chain(4, op)).accumulate == Accumulate::Once);
  CHECK(widen(chain(3, ReduceOp::Prod)).accumulate == Accumulate::Wide);
}

TEST_CASE("partial sums are passed on in scratch") {
  Statements s(CollectiveKind::Reduce, 3, 1, 1);
  s.reduce({out(1, 0)}, {in(1, 0), in(2, 0)}).copy({out(2, 0), out(0, 0)}, out(1, 0));
  s.reduce({out(0, 0)}, {in(0, 0), out(0, 0)});
  CHECK(widen(s).statements == Lines{"1.s0 <- 1.i0 2.i0", "2.s0 0.s0 <- 1.s0", "0.o0 <- 0.i0 0.s0"});
}

TEST_CASE("a sum that is a result, and a part of another one") {
  Statements s(CollectiveKind::Custom, 3, 1, 1);
  s.program.collective.expectations = {{1, 0, {{0, 0}, {1, 0}}, ir::noLoc},
                                       {2, 0, {{0, 0}, {1, 0}, {2, 0}}, ir::noLoc}};
  s.reduce({out(1, 0)}, {in(0, 0), in(1, 0)}).reduce({out(2, 0)}, {out(1, 0), in(2, 0)});
  CHECK(widen(s).statements == Lines{"1.s0 <- 0.i0 1.i0", "2.o0 <- 1.s0 2.i0", "1.o0 <- 1.s0"});
}

TEST_CASE("a ring in place") {
  Statements s(CollectiveKind::ReduceScatter, 3, 3, 1, true);
  for (std::uint32_t share = 0; share < 3; ++share)
    for (std::uint32_t step = 2; step <= 3; ++step)
      s.reduce({in((share + step) % 3, share)}, {in((share + step) % 3, share), in((share + step + 2) % 3, share)});
  const Widened widened = widen(s);
  CHECK(widened.statements[0] == "2.s0 <- 2.i0 1.i0");
  CHECK(widened.statements[1] == "0.i0 <- 0.i0 2.s0");
  CHECK(widened.statements[2] == "0.s1 <- 0.i1 2.i1");
  CHECK(widened.scratch == std::vector<std::uint32_t>{3, 3, 3});
}

TEST_CASE("chunks of one statement of which some are partial") {
  Statements s(CollectiveKind::Custom, 2, 2, 2);
  s.program.collective.expectations = {{0, 0, {{0, 0}, {1, 0}, {1, 1}}, ir::noLoc},
                                       {0, 1, {{0, 1}, {1, 1}}, ir::noLoc}};
  s.reduce({out(0, 0, 2)}, {in(0, 0, 2), in(1, 0, 2)}).reduce({out(0, 0)}, {out(0, 0), in(1, 1)});
  CHECK(widen(s).statements == Lines{"0.s0 <- 0.i0 1.i0", "0.o1 <- 0.i1 1.i1", "0.o0 <- 0.s0 1.i1"});
}

TEST_CASE("other programs stay as they are") {
  Statements s = chain(4);
  ir::DiagnosticEngine diags;
  for (const Accumulate accumulate : {Accumulate::Narrow, Accumulate::Once}) {
    s.program.movement.accumulate = accumulate;
    CHECK(widenSums(s.program, true, diags));
    CHECK(linesOf(s.program.movement) == linesOf(chain(4).program.movement));
  }
}

TEST_CASE("an executor has no wide scratch") {
  Statements s = chain(3);
  s.program.movement.accumulate = Accumulate::Wide;
  ir::DiagnosticEngine diags;
  CHECK_FALSE(widenSums(s.program, true, diags));
  CHECK(diags.render(false) ==
        "statement 0: error: a sum is not rounded once (.accumulate): a partial result is rounded to the type of "
        "elements here, as the operations of an executor do; a kernel keeps it in f32 (--emit-cuda) "
        "[partial-on-executor]\n"
        "statement 1: note: another statement adds to it here\n1 error generated.\n");
}
