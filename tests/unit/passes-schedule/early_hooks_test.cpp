// Hooks that are applied before copies instead of after them.
#include "statements.h"

#include "passes/schedule/early_hooks.h"

using namespace mscclc;
using namespace mscclc::passes::schedule;
using ir::CollectiveKind;

namespace {

using Lines = std::vector<std::string>;

/// "apply 0.1", "copy 1.0 <- 0.0", "reduce 0.0 <- 0.0 1.0": ranks and chunks of the input, in place.
Lines show(const ir::Movement &movement) {
  Lines lines;
  const auto words = [](const ir::RankChunk &place) {
    return " " + std::to_string(place.rank) + "." + std::to_string(place.index) +
           (place.size == 1 ? "" : ":" + std::to_string(place.index + place.size));
  };
  for (const ir::Move &move : movement.statements) {
    std::string line(toString(move.kind));
    for (const ir::RankChunk &dst : movement.dsts(move))
      line += words(dst);
    if (move.kind != ir::MoveKind::Apply)
      line += " <-";
    for (const ir::RankChunk &src : movement.srcs(move))
      line += move.kind == ir::MoveKind::Apply ? "" : words(src);
    lines.push_back(line);
  }
  return lines;
}

/// Moves applications of a hook. The program still keeps its promise.
Lines moved(Statements statements, std::uint64_t fewer, bool isOfRank = false) {
  ir::Program &program = statements.program;
  program.hooks = {{.name = "hook", .granularity = ir::Granularity::Row, .reads = {"gamma"}, .equal = {"gamma"}}};
  if (isOfRank)
    program.hooks[0].writes = {"residual"};
  program.collective.then = "hook";
  CHECK(ask(program).text == "");
  CHECK(applyEarly(program) == fewer);
  CHECK(ask(program).text == "");
  return show(program.movement);
}

Statements allReduce(std::uint32_t ranks) {
  return {CollectiveKind::AllReduce, ranks, ranks, ranks, /*inplace=*/true};
}

} // namespace

TEST_CASE("the owner of a share applies a hook for all") {
  Statements s = allReduce(2);
  s.reduce({in(0, 0)}, {in(0, 0), in(1, 0)}).copy({in(1, 0)}, in(0, 0));
  s.reduce({in(1, 1)}, {in(1, 1), in(0, 1)}).copy({in(0, 1)}, in(1, 1));
  s.apply(in(0, 0, 2)).apply(in(1, 0, 2));
  CHECK(moved(s, 2) == Lines{"reduce 0.0 <- 0.0 1.0", "apply 0.0", "copy 1.0 <- 0.0", "reduce 1.1 <- 1.1 0.1",
                             "apply 1.1", "copy 0.1 <- 1.1"});
}

TEST_CASE("a hook with arrays of its rank stays where it is") {
  Statements s = allReduce(1);
  s.apply(in(0, 0));
  CHECK(moved(s, 0, true) == Lines{"apply 0.0"});
  Statements two = allReduce(2);
  two.reduce({in(0, 0, 2)}, {in(0, 0, 2), in(1, 0, 2)});
  two.copy({in(1, 0, 2)}, in(0, 0, 2));
  two.apply(in(0, 0, 2)).apply(in(1, 0, 2));
  CHECK(moved(two, 0, true) == show(two.program.movement));
}

TEST_CASE("a hook moves along a chain of copies") {
  Statements s(CollectiveKind::Broadcast, 3, 1, 1, /*inplace=*/true);
  s.copy({in(1, 0)}, in(0, 0)).copy({in(2, 0)}, in(1, 0));
  s.apply(in(0, 0)).apply(in(1, 0)).apply(in(2, 0));
  CHECK(moved(s, 2) == Lines{"apply 0.0", "copy 1.0 <- 0.0", "copy 2.0 <- 1.0"});
}

TEST_CASE("a value that is also read without the hook keeps it behind the copies") {
  Statements s(CollectiveKind::Broadcast, 2, 1, 1, /*inplace=*/true, 1);
  s.copy({in(1, 0), scratch(0, 0)}, in(0, 0));
  s.apply(in(0, 0)).apply(in(1, 0));
  const Lines before = show(s.program.movement);
  CHECK(moved(s, 0) == before);
}
