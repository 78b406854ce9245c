// Running passes on their own output.
#include "random_program.h"

using namespace mscclc::passes;

namespace {

const char *const o2 = "fuse,lower-data-sync,infer-sync,drop-redundant-sync,fuse,split-waits,prune-sync,"
                       "replicate-instances";

TEST_CASE("each pass run twice in a row changes nothing the second time") {
  std::mt19937 random(11);
  for (int i = 0; i < 40; ++i) {
    const std::string text = programText(randomOps(random, 20));
    const Outcome lowered = runPasses(parseProgram(text), "fuse,lower-data-sync");
    for (const char *pass : {"lower-data-sync", "infer-sync", "drop-redundant-sync", "split-waits",
                             "replicate-instances", "fit-executor"}) {
      const Outcome once = runPasses(lowered.program, pass);
      INFO("seed 11, program " << i << ", " << pass << "\n" << text);
      CHECK(opsOf(runPasses(once.program, pass).program) == opsOf(once.program));
    }
  }
}

/// True if fusion kept operations apart that would fuse behind a sync.
bool keptApart(const Outcome &outcome) {
  const auto &counters = outcome.records.at(0).stats.counters();
  const auto it =
      std::ranges::find(counters, "kept apart for one thread's order", [](const auto &c) { return c.name; });
  REQUIRE(it != counters.end());
  return it->value != 0;
}

TEST_CASE("-O1 on its own output changes nothing", "[slow]") {
  int apart = 0, same = 0;
  for (const unsigned seed : {12u, 14u, 15u}) {
    std::mt19937 random(seed);
    for (int i = 0; i < 130; ++i) {
      const std::string text = programText(randomOps(random, 5 + i % 30));
      INFO("seed " << seed << ", program " << i << "\n" << text);
      const Outcome fused = runPasses(parseProgram(text), "fuse,lower-data-sync");
      CHECK(opsOf(runPasses(fused.program, "fuse,lower-data-sync").program) == opsOf(fused.program));
      // Sync that is inferred behind fusion orders what one thread did: then more may fuse.
      ++(keptApart(fused) ? apart : same);
      if (keptApart(fused))
        continue;
      const Outcome once = runPasses(parseProgram(text), o1);
      CHECK(opsOf(runPasses(once.program, o1).program) == opsOf(once.program));
    }
  }
  CHECK(apart > 5);
  CHECK(same > 100);
}

TEST_CASE("a nop that one sweep leaves beside another stays in the next") {
  // The DSL decides about the second release's request before it is merged; the plan has two nops, and both stay.
  const char *ops = "signal memory [0] sync after\nsem_release [0]\nsem_release [1] sync before\n";
  const Outcome once = runPasses(parseProgram(programText(ops)), o1);
  CHECK(opsOf(once.program) == "signal memory [0]\nnop\nnop\nsem_release [0, 1]\n");
  CHECK(opsOf(runPasses(once.program, o1).program) == opsOf(once.program));
  // The same with flushes, which do not show that they were two.
  const Outcome flushed = runPasses(
      parseProgram(programText("signal memory [0] sync after\nflush port [0]\nflush port [0] sync before\n")), o1);
  CHECK(opsOf(flushed.program) == "signal memory [0]\nnop\nnop\nflush port [0]\n");
  CHECK(opsOf(runPasses(flushed.program, o1).program) == opsOf(flushed.program));
  // In front of an operation of its own a second nop goes.
  CHECK(opsOf(runPasses(parseProgram(programText("signal memory [0]\nnop\nnop\nsem_release [0]\n")), o1).program) ==
        "signal memory [0]\nnop\nsem_release [0]\n");
}

TEST_CASE("-O2 on its own output changes nothing", "[slow]") {
  std::mt19937 random(13);
  for (int i = 0; i < 300; ++i) {
    const std::string text = programText(randomOps(random, 20));
    const Outcome once = runPasses(parseProgram(text), o2);
    INFO("seed 13, program " << i << "\n" << text);
    CHECK(opsOf(runPasses(once.program, o2).program) == opsOf(once.program));
  }
}

} // namespace
