// Programs of Schedule::Auto: statements as recorded, and mistakes in them.
#include "frontend/limits.h"
#include "frontend/trace/trace_reader.h"
#include "recorded.h"

#include <array>
#include <cstring>
#include <span>
#include <sstream>

using namespace mscclc;
using namespace mscclc::frontend;
using Lines = std::vector<std::string>;

namespace {

std::string show(const ir::RankChunk &place) {
  std::ostringstream out;
  out << place.rank << bufferLetter(place.buffer) << place.index;
  if (place.size != 1)
    out << ':' << place.index + place.size;
  return out.str();
}

/// "copy 1o0 <- 0i0 via 1 by 0 on 3 packets 1", without what is left open.
Lines show(const ir::Movement &movement) {
  Lines lines;
  for (const ir::Move &move : movement.statements) {
    std::ostringstream out;
    out << (move.kind == ir::MoveKind::Copy ? "copy" : "reduce");
    for (const ir::RankChunk &dst : movement.dsts(move))
      out << ' ' << show(dst);
    out << " <-";
    for (const ir::RankChunk &src : movement.srcs(move))
      out << ' ' << show(src);
    if (move.reduceOp != ir::ReduceOp::Sum)
      out << ' ' << toString(move.reduceOp);
    if (move.via)
      out << " via " << static_cast<int>(*move.via);
    if (move.by)
      out << " by " << *move.by;
    if (move.block)
      out << " on " << *move.block;
    if (move.packets)
      out << " packets " << *move.packets;
    lines.push_back(out.str());
  }
  return lines;
}

/// Runs `body` in a program of these options with four chunks of input and output on each of `ranks`.
template <typename Body> Outcome runWith(std::int64_t ranks, const ProgramOptions &options, Body &&body) {
  return run([&] {
    CollectiveProgram program("test", TestCollective(ranks, 4, 4), options);
    body();
  });
}
template <typename Body> Outcome runAuto(std::int64_t ranks, Body &&body) {
  return runWith(ranks, {.schedule = Schedule::Auto}, body);
}
template <typename Body> Lines statementsOf(Body &&body) {
  const Outcome outcome = runAuto(4, body);
  INFO(outcome.diagnostics.render(false));
  REQUIRE(outcome.program);
  return show(outcome.program->movement);
}

Chunk in(int rank, int index = 0) {
  return Rank(rank).input()[index];
}
Chunk out(int rank, int index = 0) {
  return Rank(rank).output()[index];
}

} // namespace

TEST_CASE("a program of statements has these and no block") {
  const Outcome outcome = runAuto(2, [] {
    const Buffer first(1, 3), second(1, 2);
    copy(second[1], in(0));
    copy(Rank(0).output().slice(1, 3), first.slice(0, 2));
  });
  const ir::Program &program = outcome.program.value();
  CHECK(program.schedule == ir::Schedule::Auto);
  CHECK(show(program.movement) == Lines{"copy 1s4 <- 0i0", "copy 0o1:3 <- 1s0:2"});
  CHECK(program.ranks[1].scratchChunks == 5);
  CHECK((program.ranks[0].blocks.empty() && program.ranks[1].blocks.empty()));
  CHECK(program.movement.statements[0].loc != ir::noLoc);
  CHECK((program.instances == 1 && program.protocol == ir::Protocol::Simple));
  CHECK((!program.movement.chooseInstances && !program.movement.chooseProtocol &&
         program.movement.order == ir::Order::Written));
  CHECK((program.movement.ranksPerNode == 0 && program.movement.mostBlocks == 0));
}

TEST_CASE("options of a program of statements") {
  const Outcome outcome = runWith(6,
                                  {.instances = automatic,
                                   .protocol = Protocol::Auto,
                                   .schedule = Schedule::Auto,
                                   .ranksPerNode = 3u,
                                   .blocks = 7l,
                                   .order = Order::Ranks,
                                   .accumulate = Accumulate::Wide},
                                  [] { copy(out(0), in(1)); });
  const ir::Program &program = outcome.program.value();
  CHECK((program.movement.chooseInstances && program.movement.chooseProtocol &&
         program.movement.order == ir::Order::Ranks && program.movement.accumulate == ir::Accumulate::Wide));
  CHECK((program.movement.ranksPerNode == 3 && program.movement.mostBlocks == 7));
  CHECK((program.instances == 1 && program.protocol == ir::Protocol::Simple));
  const Outcome given =
      runWith(2, {.instances = 4, .protocol = Protocol::LL, .schedule = Schedule::Auto}, [] { copy(out(0), in(1)); });
  CHECK((given.program.value().instances == 4 && given.program.value().protocol == ir::Protocol::LL));
}

TEST_CASE("statements leave open what they do not decide") {
  const int last = 3;
  CHECK(statementsOf([&] {
          copy(out(1), in(0));
          copy(out(1), in(0), {.via = Via::Memory});
          copy(out(1), in(0), {.via = Via::Port, .by = 1, .on = tb(4095), .packets = true});
          copy(out(last), in(0), {.by = last, .packets = false});
          copy(out(1), in(0), {.via = Via::Auto, .by = automatic, .on = automatic, .packets = automatic});
          reduce(out(1), {in(0)}, {.via = Via::Switch, .op = ReduceOp::Min});
        }) == Lines{"copy 1o0 <- 0i0", "copy 1o0 <- 0i0 via 0", "copy 1o0 <- 0i0 via 1 by 1 on 4095 packets 1",
                    "copy 3o0 <- 0i0 by 3 packets 0", "copy 1o0 <- 0i0", "reduce 1o0 <- 1o0 0i0 min via 2"});
}

TEST_CASE("forms of statements") {
  CHECK(statementsOf([] {
          const Chunk a = in(0), b = in(1), c = in(2), d = in(3);
          const std::vector<Chunk> vector{b, c};
          const std::array<Chunk, 1> array{d};
          const Chunk plain[] = {c, b};
          const List<Chunk> list{a, d};
          const MoveOptions options{.op = ReduceOp::Max};
          copy({a, b}, c);
          copy({a}, b);
          copy(vector, a, {.via = Via::Switch});
          copy(list, b);
          copy(std::span(vector).first(1), a);
          copy(a, a);
          reduce(a, {b, c});
          reduce(a, {b}, {.op = ReduceOp::Max});
          reduce(a, {b}, options);
          reduce(a, vector, options);
          reduce(a, array);
          reduce(a, b, {c, d});
          reduce(a, b, {c}, options);
          reduce(a, b, plain);
          reduce(a, b, list, options);
        }) == Lines{"copy 0i0 1i0 <- 2i0", "copy 0i0 <- 1i0", "copy 1i0 2i0 <- 0i0 via 2", "copy 0i0 3i0 <- 1i0",
                    "copy 1i0 <- 0i0", "copy 0i0 <- 0i0", "reduce 0i0 <- 0i0 1i0 2i0", "reduce 0i0 <- 0i0 1i0 max",
                    "reduce 0i0 <- 0i0 1i0 max", "reduce 0i0 <- 0i0 1i0 2i0 max", "reduce 0i0 <- 0i0 3i0",
                    "reduce 0i0 <- 1i0 2i0 3i0", "reduce 0i0 <- 1i0 2i0 max", "reduce 0i0 <- 1i0 2i0 1i0",
                    "reduce 0i0 <- 1i0 0i0 3i0 max"});
}

TEST_CASE("a program without a statement is suspicious") {
  const Outcome outcome = runAuto(2, [] { Buffer(0, 1); });
  CHECK(outcome.text("no_operations", 0) == "the program has no operation");
  CHECK(outcome.program);
}

TEST_CASE("statements that are given nothing to move") {
  CHECK(statementsOf([] {
          copy(std::vector<Chunk>(), in(0));
          reduce(out(0), {});
          reduce(out(0), out(0), std::vector<Chunk>(), {.op = ReduceOp::Max});
          reduce(out(0), in(1), std::vector<Chunk>(), {.op = ReduceOp::Max});
        }) == Lines{"copy 0o0 <- 1i0"});
}

TEST_CASE("operands of statements") {
  int line = 0;
  const Outcome outcome = runAuto(2, [&] {
    const Chunk wide = Rank(1).input().slice(1, 4), bad = Rank(7).input()[0];
    line = __LINE__ + 1;
    copy(out(0), wide);
    copy({out(0), wide}, in(0));
    reduce(out(0), {in(1), wide});
    reduce(out(0), wide, {wide});
    copy(Chunk(), in(0));
    reduce(out(0), Chunk(), {in(0)});
    copy(bad, in(0)); // reported where it was made
    copy(std::vector<Chunk>(), Chunk());
    copy(out(0), in(0), {.op = ReduceOp::Max});
    reduce(out(0), std::vector<Chunk>(70000, in(0)));
    copy(std::vector<Chunk>(65535, in(1)), in(0));
  });
  CHECK(outcome.text("sizes_differ", line) == "sizes differ: destination of 1 chunk, source of 3 chunks");
  CHECK(outcome.text("sizes_differ", line + 1) == "sizes differ: destination of 3 chunks, source of 1 chunk");
  CHECK(outcome.text("sizes_differ", line + 2) == "sizes differ: other chunk of 3 chunks, source of 1 chunk");
  CHECK(outcome.text("sizes_differ", line + 3) == "sizes differ: destination of 1 chunk, source of 3 chunks");
  CHECK(outcome.text("never_sliced", line + 4) == "the destination of 'copy' was never sliced from a buffer");
  CHECK(outcome.text("never_sliced", line + 5) == "the source of 'reduce' was never sliced from a buffer");
  CHECK(outcome.text("rank_out_of_range", line - 2).starts_with("rank 7 is out of range"));
  CHECK(outcome.text("never_sliced", line + 7) == "the source of 'copy' was never sliced from a buffer");
  CHECK(outcome.text("copy_with_op", line + 8).starts_with("'copy' combines nothing"));
  CHECK(outcome.text("too_many_chunks", line + 9) == "an operation names more than 65535 chunks");
  CHECK(outcome.text("too_many_chunks", line + 10) == "an operation names more than 65535 chunks");
  CHECK(outcome.diagnostics.numErrors() == 11);
}

TEST_CASE("who executes a statement, and where") {
  int line = 0;
  const Outcome outcome = runWith(4, {.schedule = Schedule::Auto, .blocks = 8}, [&] {
    line = __LINE__ + 1;
    copy(out(0), in(1), {.by = 2});
    copy(out(0), in(1), {.by = 4});
    copy(out(0), in(1), {.by = -1});
    copy(out(0), in(1), {.by = ~0ul});
    copy(out(0), in(1), {.on = tb(-1)});
    copy(out(0), in(1), {.on = tb(8)});
    copy(out(0), in(1), {.on = tb(4096)});
    reduce(out(0), in(1), {in(2), in(3)}, {.by = 3, .on = tb(7)}); // may be
  });
  CHECK(outcome.text("executor_holds_nothing", line) ==
        "rank 2 in '.by' holds no chunk of this 'copy': a rank that holds a source or a destination executes it");
  const auto range = [&](int offset) { return outcome.text("executor_out_of_range", line + offset); };
  CHECK(range(1) == "rank 4 in '.by' is out of range: the program's ranks are 0 to 3");
  CHECK(range(2) == "rank -1 in '.by' is out of range: the program's ranks are 0 to 3");
  CHECK(range(3) == "rank 18446744073709551615 in '.by' is out of range: the program's ranks are 0 to 3");
  const auto block = [&](int offset) {
    return outcome.text(offset == 5 ? "block_beyond_limit" : "block_out_of_range", line + offset);
  };
  CHECK(block(4) == "thread block -1 is out of range: thread blocks are 0 to 4095");
  CHECK(block(5) == "thread block 8 is out of range: with .blocks = 8 thread blocks are 0 to 7");
  CHECK(block(6) == "thread block 4096 is out of range: thread blocks are 0 to 4095");
  CHECK(outcome.diagnostics.numErrors() == 7);
}

TEST_CASE("through what a statement reaches other nodes") {
  int line = 0;
  const auto body = [&] {
    line = __LINE__ + 1;
    copy(out(2), in(1), {.via = Via::Memory});
    copy({out(0), out(3)}, in(1), {.via = Via::Switch});
    reduce(out(0), {in(1), in(3)}, {.via = Via::Memory});
    copy(out(2), in(3), {.via = Via::Memory}); // of one node, these
    reduce(out(2), {in(3)}, {.via = Via::Switch});
    copy(out(0), in(1), {.via = Via::Port});
    copy(out(2), in(1), {.via = Via::Port});
  };
  const Outcome outcome = runWith(4, {.schedule = Schedule::Auto, .ranksPerNode = 2}, body);
  const auto text = [&](int offset) { return outcome.text("via_between_nodes", line + offset); };
  CHECK(text(0) == "'.via = Via::Memory' cannot be used between rank 2 and rank 1, which are of different nodes: write "
                   "Via::Port, or "
                   "leave it out");
  CHECK(text(1).starts_with(
      "'.via = Via::Switch' cannot be used between rank 0 and rank 3, which are of different nodes"));
  CHECK(text(2).starts_with(
      "'.via = Via::Memory' cannot be used between rank 0 and rank 3, which are of different nodes"));
  CHECK(outcome.diagnostics.numErrors() == 3);
  CHECK(runAuto(4, body).diagnostics.numErrors() == 0);
}

TEST_CASE("the switch combines in any order") {
  const auto body = [](ReduceOp op) { return [=] { reduce(out(0), {in(1), in(2)}, {.via = Via::Switch, .op = op}); }; };
  CHECK(runAuto(4, body(ReduceOp::Sum)).text("switch_sum_in_order", 0) ==
        "'.via = Via::Switch' cannot be used for a sum of 3: a switch combines in any order, so write .order = "
        "Order::Any in the program's options");
  CHECK(runAuto(4, body(ReduceOp::Max)).program);
  CHECK(runAuto(4, [] { reduce(out(0), {in(1)}, {.via = Via::Switch}); }).program);
  CHECK(runWith(4, {.schedule = Schedule::Auto, .order = Order::Any}, body(ReduceOp::Sum)).program);
  for (const Order order : {Order::Ranks, Order::Tree})
    CHECK_FALSE(runWith(4, {.schedule = Schedule::Auto, .order = order}, body(ReduceOp::Sum)).program);
}

TEST_CASE("the old name of an order") {
  const Outcome outcome =
      runWith(4, {.schedule = Schedule::Auto, .reassociate = true}, [] { reduce(out(0), {in(1), in(2)}); });
  CHECK(outcome.text("reassociate_renamed", 0) == "'.reassociate = true' has a new name: write .order = Order::Any");
  CHECK(outcome.diagnostics.numErrors() == 0);
  CHECK(outcome.program->movement.order == ir::Order::Any);
}

TEST_CASE("an order that is no enumerator") {
  CHECK(runWith(4, {.schedule = Schedule::Auto, .order = static_cast<Order>(4)}, [] { copy(out(0), in(1)); })
            .text("no_enumerator", 0)
            .starts_with("'CollectiveProgram' is given an .order that is none of the enumerators of Order"));
}

TEST_CASE("partial results of a type that is no enumerator") {
  CHECK(runWith(4, {.accumulate = static_cast<Accumulate>(2)}, [] { Rank(0).barrier({0}); })
            .text("no_enumerator", 0)
            .starts_with("'CollectiveProgram' is given an .accumulate that is none of the enumerators of Accumulate"));
}

TEST_CASE("a wire format that is no enumerator") {
  Wire wire;
  wire.form = static_cast<Wire::Form>(3);
  CHECK(runWith(4, {.schedule = Schedule::Auto, .wire = wire}, [] { copy(out(0), in(1)); })
            .text("no_enumerator", 0)
            .starts_with("'CollectiveProgram' is given a .wire that is none of the enumerators of Wire::Form"));
}

TEST_CASE("nodes and thread blocks out of range") {
  const auto text = [](std::string_view id, ProgramOptions options, Schedule schedule = Schedule::Auto) {
    options.schedule = schedule;
    const auto body = [&] { schedule == Schedule::Auto ? copy(out(0), in(1)) : Rank(0).barrier({0}); };
    const Outcome outcome = runWith(6, options, body);
    CHECK(outcome.diagnostics.numErrors() == 1);
    return outcome.text(id, 0);
  };
  CHECK(text("node_out_of_range", {.ranksPerNode = 7}) ==
        "a node cannot have 7 ranks: it has 1 to 6, or with 0 all ranks are of one node");
  CHECK(text("node_out_of_range", {.ranksPerNode = -2}).starts_with("a node cannot have -2 ranks"));
  CHECK(text("nodes_differ", {.ranksPerNode = 4}) ==
        "6 ranks do not make nodes of 4: each node has the same number of ranks");
  CHECK(text("node_out_of_range", {.ranksPerNode = 7}, Schedule::Manual).starts_with("a node cannot have 7 ranks"));
  CHECK(text("nodes_differ", {.ranksPerNode = 4}, Schedule::Manual).starts_with("6 ranks do not make nodes of 4"));
  CHECK(text("blocks_out_of_range", {.blocks = -1}) ==
        "a rank cannot have -1 thread blocks: it has 1 to 4096, or with 0 as many as are useful");
  CHECK(text("blocks_out_of_range", {.blocks = 4097}).starts_with("a rank cannot have 4097 thread blocks"));
}

TEST_CASE("a program of operations leaves nothing to choose") {
  const Outcome outcome =
      runWith(4, {.instances = automatic, .protocol = Protocol::Auto, .blocks = 3, .order = Order::Ranks},
              [] { Rank(0).barrier({0}); });
  CHECK(outcome.text("choice_in_manual", 0) ==
        "'.instances = automatic', '.protocol = Protocol::Auto', '.blocks', '.order' cannot be used in a "
        "program of Schedule::Manual: begin the program with .schedule = Schedule::Auto, or write a number of "
        "instances, write Protocol::Simple or Protocol::LL, leave .blocks out, leave "
        ".order out");
  CHECK(outcome.diagnostics.numErrors() == 1);
  CHECK(runWith(4, {.blocks = -1}, [] { Rank(0).barrier({0}); })
            .text("choice_in_manual", 0)
            .starts_with("'.blocks' cannot be used in a program of Schedule::Manual"));
}

TEST_CASE("statements in a program of operations, and outside a program") {
  int line = 0;
  const Outcome outcome = runIn(2, [&] {
    line = __LINE__ + 1;
    copy(out(0), in(0));
    reduce(out(0), {in(0)}, {.on = tb(0)});
    copy(out(0), in(0), tb(0));
  });
  CHECK(outcome.text("statement_in_manual", line) ==
        "the movement statement 'copy' cannot be used in a program of Schedule::Manual: name the thread block that "
        "executes it, or begin "
        "the program with .schedule = Schedule::Auto");
  CHECK(outcome.text("statement_in_manual", line + 1).starts_with("the movement statement 'reduce'"));
  CHECK(outcome.diagnostics.numErrors() == 2);
  CHECK(run([] { copy(Chunk(), Chunk()); }).text("outside_program", 0).starts_with("'copy' outside a program"));
}

TEST_CASE("operations in a program of statements") {
  int line = 0;
  const Outcome outcome = runAuto(2, [&] {
    const Rank rank(0);
    const Buffer scratch(0, 2);
    const Chunk a = in(0), b = out(0);
    line = __LINE__ + 1;
    rank.copy(b, a, tb(0));
    copy(b, a, tb(0));
    reduce(b, {a}, tb(0));
    copyPackets(scratch[0], a, tb(0));
    unpackPackets(b, scratch[0], tb(0));
    rank.barrier({0, 1});
    MemoryChannel memory(1, 0);
    PortChannel port(1, 0);
    SwitchChannel nvls({0, 1}, BufferType::Input);
    Semaphore semaphore(0, 0);
    ThreadBlockGroup group({0, 1});
    PipelineLoop loop(1, 1);
    memory.signal(tb(0));
    memory.put(b, a, tb(0));
    port.flush(tb(0));
    nvls.atRank(0).broadcast(a, 0, 1, tb(0));
    nvls.atRank(0).reduce(0, 1, a, tb(0));
    semaphore.acquire(tb(0));
    memory.reduce(b, {a}, tb(0));
    memory.readPutPackets(scratch[0], scratch[1], tb(0));
    copy(b, a);
  });
  const std::string in = " cannot be used in a program of Schedule::Auto: ", leave = "leave it out, as the compiler ";
  const Lines expected{"'copy'" + in + "write copy(dst, src), with {.on = tb(i)} to choose its thread block",
                       "'copy'" + in + "write copy(dst, src), with {.on = tb(i)} to choose its thread block",
                       "'reduce'" + in + "write reduce(into, others), with {.on = tb(i)} to choose its thread block",
                       "'copyPackets'" + in + "write copy(dst, src, {.packets = true})",
                       "'unpackPackets'" + in + "write copy(dst, src, {.packets = true})",
                       "'barrier'" + in + leave + "orders what depends on one another",
                       "'MemoryChannel'" + in + "write copy(dst, src) on chunks of any ranks",
                       "'PortChannel'" + in + "write copy(dst, src, {.via = Via::Port})",
                       "'SwitchChannel'" + in + "write copy({dst, …}, src, {.via = Via::Switch}) or reduce(into, " +
                           "others, {.via = Via::Switch})",
                       "'Semaphore'" + in + leave + "orders what depends on one another",
                       "'ThreadBlockGroup'" + in + leave + "spreads the work over thread blocks",
                       "'PipelineLoop'" + in + leave + "makes the loops"};
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(outcome.text("manual_in_auto", line + static_cast<int>(i)) == expected[i]);
  CHECK(outcome.diagnostics.numErrors() == expected.size());
}

TEST_CASE("with a faulty collective, nothing more is said of nodes and statements") {
  const Outcome outcome = run([] {
    CollectiveProgram program("p", AllReduce(0, 1, true), {.schedule = Schedule::Auto, .ranksPerNode = 2});
    copy(Chunk(), Chunk()); // passed over
  });
  CHECK(outcome.diagnostics.numErrors() == 1);
}

TEST_CASE("a forged statement is damage, where it stands") {
  const std::vector<std::byte> original = trace([] {
    CollectiveProgram program("p", TestCollective(2, 4, 4), {.schedule = Schedule::Auto});
    reduce(out(0), {in(1)});
  });
  TraceReader reader(original);
  while (reader.next() && !reader.isCall())
    ;
  REQUIRE(reader.call() == detail::Call::MoveReduce);
  const std::size_t at = reader.offset();
  const auto forged = [&](auto change) {
    std::vector<std::byte> recording = original;
    auto record = reader.as<MoveRecord>();
    change(record);
    std::memcpy(recording.data() + at, &record, sizeof record);
    return build(recording).text("recording_damaged", 0);
  };
  const std::string damaged = "the algorithm has overwritten its own recording (at byte " + std::to_string(at) + ")";
  for (const std::uint32_t numDsts : {0u, 2u, 3u, ~0u})
    CHECK(forged([&](MoveRecord &move) { move.numDsts = numDsts; }) == damaged);
  CHECK(forged([](MoveRecord &move) { move.call.head.count = 0; }) == damaged);
  CHECK(forged([](MoveRecord &move) { move.call.head.count = 1; }) == damaged);
  CHECK(forged([](MoveRecord &move) { --move.call.head.kind; }) == damaged); // a copy of two sources
  CHECK(forged([](MoveRecord &move) { move.call.on = maxBlocks; }) == damaged);
  CHECK(build(original).program);
}
