// Pipelines: what is refused, and what is odd.
#include "recorded.h"
#include "shown_ops.h"

#include <optional>

using namespace mscclc;
using namespace mscclc::frontend;
using Lines = std::vector<std::string>;

TEST_CASE("pipelines do not nest") {
  int outer = 0, inner = 0;
  const Outcome outcome = runIn(1, [&] {
    outer = __LINE__ + 1;
    PipelineLoop loop(1_KiB, 2);
    inner = __LINE__ + 1;
    pipeline(1_KiB, 2, [] { Rank(0).barrier({0}); });
    Rank(0).barrier({0});
  });
  CHECK(outcome.text("nested_pipeline", inner) == "pipelines do not nest");
  CHECK(outcome.note("nested_pipeline", "pipeline_begins_here", outer) == "the pipeline that is open begins here");
  CHECK(outcome.diagnostics.numErrors() == 1);
}

TEST_CASE("units and iterations out of range") {
  int line = 0;
  const Outcome outcome = runIn(1, [&] {
    const auto body = [] { Rank(0).barrier({0}); };
    line = __LINE__ + 1;
    pipeline(0, 1, body);
    pipeline(-4096, 1, body);
    pipeline(1, 0, body);
    pipeline(1, 1ll << 32, body);
  });
  CHECK(outcome.text("unit_out_of_range", line) ==
        "a pipeline cannot have a unit of 0 bytes: its unit is at least 1 byte");
  CHECK(outcome.text("unit_out_of_range", line + 1).starts_with("a pipeline cannot have a unit of -4096 bytes"));
  CHECK(outcome.text("iterations_out_of_range", line + 2) ==
        "a pipeline cannot have 0 iterations: it has 1 to 4294967295");
  CHECK(outcome.text("iterations_out_of_range", line + 3).starts_with("a pipeline cannot have 4294967296 iterations"));
}

TEST_CASE("a pipeline without operations is suspicious, no more") {
  int line = 0;
  const Outcome outcome = runIn(1, [&] {
    line = __LINE__ + 1;
    pipeline(1, 1, [] {});
    Rank(0).barrier({0});
  });
  CHECK(outcome.text("empty_pipeline", line) == "the pipeline has no operation");
  CHECK(show(outcome.program.value(), 0, 0) == Lines{"nop"});
}

TEST_CASE("a pipeline that outlives its program") {
  std::optional<PipelineLoop> loop;
  int line = 0;
  const Outcome outcome = run([&] {
    {
      CollectiveProgram program("p", TestCollective(1, 1, 1));
      line = __LINE__ + 1;
      loop.emplace(1, 1);
      Rank(0).barrier({0});
    }
    loop.reset();
  });
  CHECK(outcome.text("unfinished_pipeline", 0) == "the pipeline does not end before the program does");
  CHECK(outcome.diagnostics.numErrors() == 1);
}

TEST_CASE("two pipelines behind one another are two") {
  const Outcome outcome = runIn(1, [] {
    for (int i = 1; i <= 2; ++i)
      pipeline(i, 3, [] { Rank(0).barrier({0}); });
  });
  CHECK(show(outcome.program.value(), 0, 0) == Lines{"pipeline 1 x 3 body 1", "nop", "pipeline 2 x 3 body 1", "nop"});
}
