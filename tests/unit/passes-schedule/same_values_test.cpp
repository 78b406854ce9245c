// A program of thread blocks compared with the meaning of statements.
#include "../passes-verify/plan.h"
#include "statements.h"

#include "ir/internal_error.h"
#include "ir/structure.h"
#include "passes/schedule/same_values.h"
#include "passes/verify/verify.h"

#include <functional>

using namespace mscclc;
using namespace mscclc::passes::schedule;
using ir::CollectiveKind;
using ir::ReduceOp;

namespace {

/// What the comparison says of a plan, or nothing.
std::string compared(const Statements &statements, const ir::Program &scheduled) {
  const Asked asked = ask(statements);
  REQUIRE(asked.meaning);
  ir::DiagnosticEngine diags;
  REQUIRE(ir::checkStructure(scheduled, diags));
  int times = 0;
  std::string said;
  passes::VerifyOptions options;
  options.atEnd = [&](const passes::proof::FinalBuffers &end) {
    ++times;
    try {
      checkSameResult(*asked.meaning, end);
    } catch (const ir::InternalError &error) {
      said = error.what(); // begins with the place of the throw
      said.erase(0, said.find("the schedule of"));
    }
  };
  const bool proven = passes::verify(scheduled, diags, options).proven;
  INFO(diags.render(false));
  CHECK(proven);
  CHECK(times > 0);
  return said;
}

/// One rank of `inputs` chunks, whose one block does what `write` says.
ir::Program oneRank(std::uint32_t inputs, const std::function<void(plan::Block &)> &write, std::uint32_t pieces = 1) {
  plan::Plan p(CollectiveKind::Test, 1, inputs * pieces, 2 * pieces, false, 4 * pieces);
  plan::Block block = p.on(0);
  write(block);
  return p.program;
}

const std::string differs = "the schedule of 'by hand' leaves another value in output[0] of rank 0 than its statements";

/// Output chunk 0 as the chain of inputs 0 to 3.
Statements chainOfFour(ReduceOp op = ReduceOp::Sum, bool reassociate = false) {
  Statements s(CollectiveKind::Test, 1, 4, 2);
  s.reduce({out(0, 0)}, {in(0, 0), in(0, 1), in(0, 2), in(0, 3)}, op);
  s.program.movement.order = reassociate ? ir::Order::Any : ir::Order::Written;
  return s;
}

/// (0 + 1) + (2 + 3)
void inPairs(plan::Block &block, ReduceOp op) {
  block.reduce(plan::scratch(0), {plan::in(2), plan::in(3)}, op).reduce(plan::out(0), {plan::in(1), plan::in(0)}, op);
  block.nop().reduce(plan::out(0), {plan::out(0), plan::scratch(0)}, op);
}

} // namespace

TEST_CASE("the same chain, in one operation or step by step") {
  CHECK(compared(chainOfFour(), oneRank(4, [](plan::Block &b) {
                   b.reduce(plan::out(0), {plan::in(0), plan::in(1), plan::in(2), plan::in(3)});
                 })) == "");
  CHECK(compared(chainOfFour(), oneRank(4, [](plan::Block &b) {
                   b.reduce(plan::scratch(0), {plan::in(1), plan::in(0)}).nop(); // steps are commutative
                   b.reduce(plan::scratch(1), {plan::in(2), plan::scratch(0)}).nop();
                   b.reduce(plan::out(0), {plan::in(3), plan::scratch(1)});
                 })) == "");
}

TEST_CASE("another tree is the same only where sums and products may be taken in any order") {
  const auto pairs = oneRank(4, [](plan::Block &b) { inPairs(b, ReduceOp::Sum); });
  CHECK(compared(chainOfFour(), pairs) == differs);
  CHECK(compared(chainOfFour(ReduceOp::Sum, true), pairs) == "");
  CHECK(compared(chainOfFour(ReduceOp::Prod, true), pairs) == differs);
  const auto products = oneRank(4, [](plan::Block &b) { inPairs(b, ReduceOp::Prod); });
  CHECK(compared(chainOfFour(ReduceOp::Prod), products) == differs);
  CHECK(compared(chainOfFour(ReduceOp::Prod, true), products) == "");
  CHECK(compared(chainOfFour(ReduceOp::Max), pairs) == differs);
  const auto maxima = oneRank(4, [](plan::Block &b) { inPairs(b, ReduceOp::Max); });
  CHECK(compared(chainOfFour(ReduceOp::Max), maxima) == "");
  CHECK(compared(chainOfFour(ReduceOp::Min), maxima) == differs);
}

TEST_CASE("how often a part is in a sum or product counts, but not in a maximum") {
  for (const ReduceOp op : {ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Max}) {
    const auto twice = oneRank(4, [&](plan::Block &b) {
      inPairs(b, op);
      b.nop().reduce(plan::out(0), {plan::out(0), plan::in(3)}, op);
    });
    CHECK(compared(chainOfFour(op, true), twice) == (op == ReduceOp::Max ? "" : differs));
  }
}

TEST_CASE("a maximum of one value is that value in a sum around it") {
  Statements s(CollectiveKind::Test, 1, 4, 2, false, 4);
  s.reduce({scratch(0, 0)}, {in(0, 0), in(0, 1)}).reduce({out(0, 0)}, {in(0, 2), scratch(0, 0)});
  s.program.movement.order = ir::Order::Any;
  CHECK(compared(s, oneRank(4, [](plan::Block &b) {
                   b.reduce(plan::scratch(0), {plan::in(0), plan::in(1)}).nop();
                   b.reduce(plan::scratch(1), {plan::scratch(0), plan::scratch(0)}, ReduceOp::Max).nop();
                   b.reduce(plan::out(0), {plan::scratch(1), plan::in(2)});
                 })) == "");
}

TEST_CASE("outputs that no promise names, and inputs, are compared, too") {
  const auto first = [](plan::Block &b) {
    b.reduce(plan::out(0), {plan::in(0), plan::in(1), plan::in(2), plan::in(3)});
  };
  CHECK(compared(chainOfFour(), oneRank(4, [&](plan::Block &b) {
                   first(b);
                   b.copy(plan::out(1), plan::in(1));
                 })) == "the schedule of 'by hand' leaves another value in output[1] of rank 0 than its statements");
  CHECK(compared(chainOfFour(), oneRank(4, [&](plan::Block &b) {
                   first(b);
                   b.nop().copy(plan::in(1), plan::in(2));
                 })) == "the schedule of 'by hand' leaves another value in input[1] of rank 0 than its statements");
}

TEST_CASE("chunks may be cut into pieces") {
  const auto chain = [](plan::Block &b, std::uint32_t first, std::uint32_t second) {
    using plan::in;
    b.reduce(plan::out(0), {in(0), in(2), in(4), in(6)});
    b.reduce(plan::out(1), {in(first), in(second), in(5), in(7)});
  };
  CHECK(compared(chainOfFour(), oneRank(4, [&](plan::Block &b) { chain(b, 1, 3); }, 2)) == "");
  CHECK(compared(chainOfFour(), oneRank(4, [&](plan::Block &b) { chain(b, 3, 1); }, 2)) == "");
  CHECK(compared(chainOfFour(), oneRank(4, [&](plan::Block &b) { chain(b, 1, 2); }, 2)) == differs);
  CHECK(compared(chainOfFour(), oneRank(3, [](plan::Block &) {})) ==
        "the schedule of 'by hand' changes the number of ranks or chunks");
}

TEST_CASE("slices of groups and pipelines are compared in each size that is proven") {
  CHECK(compared(chainOfFour(), oneRank(4, [](plan::Block &b) {
                   b.pipeline(1024, 1, 1);
                   b.reduce(plan::out(0), {plan::in(0), plan::in(1), plan::in(2), plan::in(3)});
                 })) == "");
}

TEST_CASE("what a switch reduces is a sum in any order") {
  for (const std::uint32_t ranks : {2u, 3u}) {
    Statements s(CollectiveKind::AllReduce, ranks, ranks, ranks, true);
    plan::Plan p(CollectiveKind::AllReduce, ranks, ranks, ranks, true);
    p.switchChannel(ir::BufferKind::Input);
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      for (std::uint32_t peer = 0; peer < ranks; ++peer)
        if (peer != rank)
          p.channel(rank, peer);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      RankChunks srcs, dsts;
      plan::Ids all;
      for (std::uint32_t peer = 0; peer < ranks; ++peer) {
        srcs.push_back(in(peer, rank));
        dsts.push_back(out(peer, rank));
        if (peer + 1 < ranks)
          all.push_back(peer);
      }
      s.reduce(dsts, srcs);
      plan::Block b = p.on(rank);
      b.signal(all).wait(all).nop();
      b.remote(ir::OpKind::SwitchReduceBroadcast, {plan::onSwitch(0, rank)}, {plan::onSwitch(0, rank)},
               ir::ChannelType::Switch, {0});
      b.nop().signal(all).wait(all);
    }
    for (const bool reassociate : {false, true}) {
      s.program.movement.order = reassociate ? ir::Order::Any : ir::Order::Written;
      CHECK((compared(s, p.program) == "") == (reassociate || ranks == 2));
    }
  }
}
