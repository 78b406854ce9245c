// Running passes on their own output.
#include "random_program.h"

using namespace mscclc::passes;

namespace {

const char *const o2 = "fuse,lower-data-sync,infer-sync,drop-redundant-sync,fuse,replicate-instances";

std::string withoutNops(const std::string &ops) {
  return std::regex_replace(ops, std::regex("nop\n"), "");
}

TEST_CASE("each pass run twice in a row changes nothing the second time") {
  std::mt19937 random(11);
  for (int i = 0; i < 100; ++i) {
    const std::string text = programText(randomOps(random, 20));
    const Outcome lowered = runPasses(parseProgram(text), "fuse,lower-data-sync");
    for (const char *pass :
         {"lower-data-sync", "infer-sync", "drop-redundant-sync", "replicate-instances", "fit-executor"}) {
      const Outcome once = runPasses(lowered.program, pass);
      INFO("seed 11, program " << i << ", " << pass << "\n" << text);
      CHECK(opsOf(runPasses(once.program, pass).program) == opsOf(once.program));
    }
  }
}

TEST_CASE("-O1 on its own output") {
  // The DSL's one sweep from left to right looks at an operation before its right neighbours are merged into it, so its
  // plans can hold a nop beside another: signal(after), release, release(before). They are right, so they are ours, and
  // a second sweep sees to it. Nothing else changes, and from then on nothing at all.
  std::mt19937 random(12);
  int unchanged = 0;
  for (int i = 0; i < 300; ++i) {
    const std::string text = programText(randomOps(random, 20));
    const Outcome once = runPasses(parseProgram(text), o1);
    const Outcome twice = runPasses(once.program, o1);
    INFO("seed 12, program " << i << "\n" << text);
    CHECK(withoutNops(opsOf(twice.program)) == withoutNops(opsOf(once.program)));
    CHECK(opsOf(runPasses(twice.program, o1).program) == opsOf(twice.program));
    unchanged += opsOf(twice.program) == opsOf(once.program);
  }
  CHECK(unchanged > 250);
}

TEST_CASE("-O2 on its own output changes nothing") {
  std::mt19937 random(13);
  for (int i = 0; i < 300; ++i) {
    const std::string text = programText(randomOps(random, 20));
    const Outcome once = runPasses(parseProgram(text), o2);
    INFO("seed 13, program " << i << "\n" << text);
    CHECK(opsOf(runPasses(once.program, o2).program) == opsOf(once.program));
  }
}

} // namespace
