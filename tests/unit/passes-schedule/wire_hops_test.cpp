// What leaves a rank in a program with a wire format passes through scratch.
#include "statements.h"

#include "passes/schedule/wire_hops.h"

using namespace mscclc;
using namespace mscclc::passes::schedule;
using ir::CollectiveKind;

namespace {

ir::Program withWire(Statements statements) {
  ir::Hook &wire = statements.program.hooks.emplace_back();
  wire.name = "wire";
  wire.granularity = ir::Granularity::Block;
  wire.block = 128;
  wire.wire = ir::Wire::F8E4m3;
  return std::move(statements.program);
}

struct Placed {
  Lines statements;
  std::vector<std::uint32_t> scratch; ///< [rank]: chunks
};

Placed place(Statements statements) {
  ir::Program program = withWire(std::move(statements));
  CHECK(ask(program).text == "");
  ir::DiagnosticEngine diags;
  CHECK(placeWire(program, diags));
  CHECK(diags.render(false) == "");
  CHECK(ask(program).text == ""); // each value was encoded once
  Placed placed{linesOf(program.movement), {}};
  for (const ir::Rank &rank : program.ranks)
    placed.scratch.push_back(rank.scratchChunks);
  CHECK(placeWire(program, diags)); // a second time changes nothing
  CHECK(linesOf(program.movement) == placed.statements);
  return placed;
}

std::string refuse(Statements statements) {
  ir::Program program = withWire(std::move(statements));
  ir::DiagnosticEngine diags;
  CHECK_FALSE(placeWire(program, diags));
  return diags.render(false);
}

} // namespace

TEST_CASE("a sum that its rank sends is kept as it is sent") {
  Statements s(CollectiveKind::AllReduce, 2, 1, 1, true);
  s.reduce({in(0, 0)}, {in(0, 0), in(1, 0)}).copy({in(1, 0)}, in(0, 0));
  const Placed placed = place(s);
  CHECK(placed.statements ==
        Lines{"0.s0 <- 0.i0", "0.s1 <- 1.i0", "0.s2 <- 0.s0 0.s1", "0.i0 <- 0.s2", "1.s0 <- 0.s2", "1.i0 <- 1.s0"});
  CHECK(placed.scratch == std::vector<std::uint32_t>{3, 1});
}

TEST_CASE("a sum that stays is not encoded") {
  Statements s(CollectiveKind::Reduce, 3, 1, 1);
  s.reduce({out(0, 0)}, {in(0, 0), in(1, 0), in(2, 0)});
  CHECK(place(s).statements == Lines{"0.s0 <- 0.i0", "0.s1 <- 1.i0", "0.s2 <- 2.i0", "0.o0 <- 0.s0 0.s1 0.s2"});
}

TEST_CASE("a value is passed on as it came") {
  Statements s(CollectiveKind::AllReduce, 3, 1, 1);
  s.reduce({out(0, 0)}, {in(0, 0), in(1, 0), in(2, 0)}).copy({out(1, 0)}, out(0, 0)).copy({out(2, 0)}, out(1, 0));
  const Placed placed = place(s);
  CHECK(placed.statements == Lines{"0.s0 <- 0.i0", "0.s1 <- 1.i0", "0.s2 <- 2.i0", "0.s3 <- 0.s0 0.s1 0.s2",
                                   "0.o0 <- 0.s3", "1.s0 <- 0.s3", "1.o0 <- 1.s0", "2.s0 <- 1.s0", "2.o0 <- 2.s0"});
}

TEST_CASE("an input that two ranks add is encoded by each") {
  Statements s(CollectiveKind::AllReduce, 2, 1, 1);
  for (std::uint32_t rank = 0; rank < 2; ++rank)
    s.reduce({out(rank, 0)}, {in(0, 0), in(1, 0)});
  CHECK(place(s).statements == Lines{"0.s0 <- 0.i0", "0.s1 <- 1.i0", "0.o0 <- 0.s0 0.s1", "1.s0 <- 0.s0",
                                     "1.s1 <- 1.i0", "1.o0 <- 1.s0 1.s1"});
}

TEST_CASE("chunks of one statement of which some are sent") {
  Statements s(CollectiveKind::Custom, 2, 2, 2);
  s.program.collective.expectations = {
      {0, 0, {{0, 0}, {1, 0}}, ir::noLoc}, {0, 1, {{0, 1}, {1, 1}}, ir::noLoc}, {1, 0, {{0, 0}, {1, 0}}, ir::noLoc}};
  s.reduce({out(0, 0, 2)}, {in(0, 0, 2), in(1, 0, 2)}).copy({out(1, 0)}, out(0, 0));
  CHECK(place(s).statements == Lines{"0.s0 <- 0.i0", "0.s1 <- 1.i0", "0.s2 <- 0.s0 0.s1", "0.o0 <- 0.s2",
                                     "0.s3 <- 0.i1", "0.s4 <- 1.i1", "0.o1 <- 0.s3 0.s4", "1.s0 <- 0.s2",
                                     "1.o0 <- 1.s0"});
}

TEST_CASE("a program that stages contributions in scratch itself") {
  Statements s(CollectiveKind::AllReduce, 2, 1, 1, true, 2);
  s.copy({scratch(0, 0)}, in(1, 0)).reduce({in(0, 0)}, {in(0, 0), scratch(0, 0)}).copy({in(1, 0)}, in(0, 0));
  ir::Program program = withWire(s);
  ir::DiagnosticEngine diags;
  CHECK(placeWire(program, diags));
  // The sum is of one rank. What it adds came from another one, so its own operand is encoded, too.
  CHECK(linesOf(program.movement) ==
        Lines{"0.s0 <- 1.i0", "0.s2 <- 0.i0", "0.s3 <- 0.s2 0.s0", "0.i0 <- 0.s3", "1.s2 <- 0.s3", "1.i0 <- 1.s2"});
}

TEST_CASE("partial sums are refused, with the hop") {
  Statements s(CollectiveKind::Reduce, 3, 1, 1);
  s.program.collective.root = 2;
  s.reduce({out(1, 0)}, {in(0, 0), in(1, 0)}).reduce({out(2, 0)}, {out(1, 0), in(2, 0)});
  CHECK(refuse(s) == "statement 0: error: this partial sum would be quantised once more on the way from rank 1 to rank "
                     "2 (.wire): let one statement combine the inputs of all ranks [wire-partial-sum]\n"
                     "statement 1: note: another statement adds to it here\n1 error generated.\n");
}

TEST_CASE("ways without a wire format") {
  Statements s(CollectiveKind::AllReduce, 2, 1, 1);
  s.reduce({out(0, 0)}, {in(0, 0), in(1, 0)}).copy({out(1, 0)}, out(0, 0));
  const auto with = [&](auto change) {
    Statements changed = s;
    change(changed.program.movement);
    const std::string text = refuse(changed);
    return text.substr(0, text.find(" ["));
  };
  const std::string sum = "statement 0: error: this statement ", copy = "statement 1: error: this statement ";
  CHECK(with([](ir::Movement &m) { m.statements[0].via = ir::Via::Switch; }) ==
        sum + "goes through the switch, where no wire format goes (.wire): a switch adds elements of the message");
  CHECK(with([](ir::Movement &m) { m.statements[1].via = ir::Via::Port; }) ==
        copy + "goes through ports, where no wire format goes (.wire): these move whole chunks; name one node");
  CHECK(with([](ir::Movement &m) { m.ranksPerNode = 1; }) ==
        sum + "goes through ports, where no wire format goes (.wire): these move whole chunks; name one node");
  CHECK(with([](ir::Movement &m) { m.places[m.statements[1].firstPlace] = in(0, 0); }) ==
        copy +
            "copies an input to another rank, where no wire format goes (.wire): its owner would have another value; "
            "wire formats are for sums");
}

TEST_CASE("a wish for packets is one for all copies to other ranks") {
  Statements s(CollectiveKind::AllReduce, 2, 1, 1);
  s.reduce({out(0, 0)}, {in(0, 0), in(1, 0)}).copy({out(1, 0)}, out(0, 0));
  for (ir::Move &move : s.program.movement.statements)
    move.packets = true;
  ir::Program program = withWire(s);
  ir::DiagnosticEngine diags;
  CHECK(placeWire(program, diags));
  const ir::Movement &movement = program.movement;
  for (const ir::Move &move : movement.statements)
    if (move.kind == ir::MoveKind::Copy)
      CHECK(move.packets.value_or(false) == (movement.srcs(move)[0].rank != movement.dsts(move)[0].rank));
}

TEST_CASE("programs without a wire format stay as they are") {
  Statements s(CollectiveKind::AllReduce, 2, 1, 1);
  s.reduce({out(0, 0)}, {in(0, 0), in(1, 0)}).copy({out(1, 0)}, out(0, 0));
  const Lines before = linesOf(s.program.movement);
  ir::DiagnosticEngine diags;
  CHECK(placeWire(s.program, diags));
  CHECK(linesOf(s.program.movement) == before);
}
