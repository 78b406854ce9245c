// What is synthesised comes with the schedule that it was compared with.
#include "catch.h"
#include "ir/text.h"
#include "passes/synthesize/synthesize.h"

#include <string>

using namespace mscclc;
using namespace mscclc::passes;
using ir::CollectiveKind;

namespace {

std::string textOf(const ir::Program &program) {
  std::string text;
  ir::print(program, text);
  return text;
}

} // namespace

TEST_CASE("the best algorithm has the schedule that it would get again", "[slow]") {
  const time::Machine machine = time::findMachine("h100x8");
  for (const std::string_view name : {"none", "mscclpp"})
    for (const std::uint64_t bytes : {8u << 10, 1u << 20}) {
      const Target target = *findTarget(name);
      const schedule::ChooseOptions options{.machine = machine, .messageBytes = bytes, .target = target};
      std::string why;
      const auto made = synthesize::synthesize(CollectiveKind::AllReduce, 0, options, why);
      REQUIRE(made);
      REQUIRE(made->scheduled);
      CHECK(made->scheduled->messageBytes == bytes);
      CHECK(made->scheduled->choice.nanoseconds == made->nanoseconds);
      CHECK(made->scheduled->program.movement.statements.empty());
      ir::Program again = made->program;
      CHECK(schedule::choose(again, options).choices == made->scheduled->choice.choices);
      CHECK(textOf(again) == textOf(made->scheduled->program));
    }
}
