// Mistakes about programs, collectives and options.
#include "recorded.h"

#include <memory>

using namespace mscclc;
using namespace mscclc::frontend;

namespace {
/// One rank, one operation, and these options; the line of the program goes to `line`.
Outcome withOptions(const ProgramOptions &options, int &line) {
  return run([&] {
    line = __LINE__ + 1;
    CollectiveProgram program("p", TestCollective(1, 1, 1), options);
    Rank(0).barrier({0});
  });
}
} // namespace

TEST_CASE("an algorithm without a program") {
  const Outcome outcome = run([] {});
  CHECK_FALSE(outcome.program);
  CHECK(outcome.text("no_program", 0) == "the algorithm makes no CollectiveProgram");
}

TEST_CASE("a second program behind the first") {
  int first = 0, second = 0;
  const Outcome outcome = run([&] {
    {
      first = __LINE__ + 1;
      CollectiveProgram program("a", AllReduce(2, 1, false));
      Rank(0).barrier({0});
    }
    second = __LINE__ + 1;
    CollectiveProgram program("b", AllReduce(8, 1, false));
    Rank(7).copy(Rank(7).output()[5], Rank(7).input()[5], tb(0)); // passed over
  });
  CHECK(outcome.text("second_program", second) == "an algorithm makes one program, and this is a second one");
  CHECK(outcome.note("second_program", "first_program_here", first) == "the first program begins here");
  CHECK(outcome.diagnostics.numErrors() == 1);
}

TEST_CASE("two programs at once") {
  int first = 0, second = 0, later = 0;
  const Outcome outcome = run([&] {
    first = __LINE__ + 1;
    CollectiveProgram outer("outer", AllReduce(2, 1, false));
    {
      second = __LINE__ + 1;
      CollectiveProgram inner("inner", AllReduce(8, 1, false));
      Rank(7).barrier({0}); // passed over
      MemoryChannel(7, 6).signal(tb(0));
      PipelineLoop loop(1, 1);
    }
    later = __LINE__ + 1;
    Rank(7);
  });
  CHECK(outcome.text("nested_program", second) == "two programs at once: 'inner' begins before 'outer' has ended");
  CHECK(outcome.note("nested_program", "first_program_here", first) == "the first program begins here");
  CHECK(outcome.text("rank_out_of_range", later) == "rank 7 is out of range: the program's ranks are 0 to 1");
  CHECK(outcome.diagnostics.numErrors() == 2);
}

TEST_CASE("a program that never ends") {
  int line = 0;
  std::unique_ptr<CollectiveProgram> program;
  const Outcome outcome = run([&] {
    line = __LINE__ + 1;
    program = std::make_unique<CollectiveProgram>("p", AllReduce(2, 1, false));
    Rank(0).barrier({0});
  });
  CHECK(outcome.text("unfinished_program", 0) ==
        "the program never ends: its CollectiveProgram still exists when the algorithm is over");
}

TEST_CASE("what is used outside a program") {
  std::vector<int> lines;
  const Outcome outcome = run([&] {
    lines.push_back(__LINE__ + 1);
    Rank rank(0);
    lines.push_back(__LINE__ + 1);
    Buffer buffer(0, 1);
    lines.push_back(__LINE__ + 1);
    MemoryChannel memory(1, 0);
    lines.push_back(__LINE__ + 1);
    PortChannel port(1, 0);
    lines.push_back(__LINE__ + 1);
    SwitchChannel nvls({0, 1}, BufferType::Input);
    lines.push_back(__LINE__ + 1);
    Semaphore semaphore(0, 0);
    lines.push_back(__LINE__ + 1);
    PipelineLoop loop(1, 1);
    rank.copy(buffer[0], rank.input()[0], tb(0)); // of faulty things: nothing more to say
    memory.signal(tb(0));
    MemoryChannel inside;
    {
      CollectiveProgram program("p", AllReduce(2, 1, false));
      inside = MemoryChannel(1, 0);
      inside.signal(tb(0));
    }
    lines.push_back(__LINE__ + 1);
    inside.wait(tb(0));
  });
  const char *names[] = {"Rank",          "Buffer",    "MemoryChannel", "PortChannel",
                         "SwitchChannel", "Semaphore", "PipelineLoop",  "wait"};
  REQUIRE(lines.size() == std::size(names));
  for (std::size_t i = 0; i < lines.size(); ++i)
    CHECK(outcome.text("outside_program", lines[i]) ==
          "'" + std::string(names[i]) +
              "' outside a program: it belongs between the construction of a CollectiveProgram and its end");
  CHECK(outcome.diagnostics.numErrors() == lines.size());
}

TEST_CASE("a program without operations is suspicious, no more") {
  int line = 0;
  const Outcome outcome = run([&] {
    line = __LINE__ + 1;
    CollectiveProgram program("p", AllReduce(2, 1, false));
  });
  CHECK(outcome.text("no_operations", line) == "the program has no operation");
  CHECK(outcome.program);
}

TEST_CASE("names") {
  int line = 0;
  const Outcome outcome = run([&] {
    line = __LINE__ + 1;
    CustomCollective own("", 2, 1, 1);
    CollectiveProgram program("a\xff", own);
  });
  CHECK(outcome.text("empty_name", line) == "the collective has an empty name");
  CHECK(outcome.text("name_not_utf8", line + 1) == "the name of the program is not UTF-8");
  CHECK(run([] { CollectiveProgram program("", AllReduce(2, 1, true)); }).text("empty_name", 0) ==
        "the program has an empty name");
  const Outcome taken = run([&] {
    line = __LINE__ + 1;
    CustomCollective own("allreduce", 2, 1, 1);
    CollectiveProgram program("p", own);
  });
  CHECK(taken.text("custom_name_taken", line) ==
        "a custom collective is named 'allreduce': the executor lays its buffers "
        "out as those of that collective");
  CHECK(taken.program);
}

TEST_CASE("options out of range") {
  int line = 0;
  Outcome outcome = withOptions({.instances = 0, .threadsPerBlock = 1025, .bufferAlignment = 24}, line);
  CHECK(outcome.text("instances_out_of_range", line) == "a program cannot have 0 instances: it has 1 to 4096");
  CHECK(outcome.text("threads_out_of_range", line) == "a thread block cannot have 1025 threads: it has 1 to 1024");
  CHECK(outcome.text("bad_alignment", line) ==
        "the buffer alignment cannot be 24 bytes: it is a power of two, from 1 to "
        "2147483648");
  outcome = withOptions({.instances = ~0ull, .threadsPerBlock = 0, .bufferAlignment = -16}, line);
  CHECK(outcome.text("instances_out_of_range", line) ==
        "a program cannot have 18446744073709551615 instances: it has 1 to 4096");
  CHECK(outcome.text("bad_alignment", line).starts_with("the buffer alignment cannot be -16 bytes"));
  CHECK(outcome.diagnostics.numErrors() == 3);
  outcome = withOptions({.readyRows = 128}, line);
  CHECK(outcome.text("ready_rows_of_no_experts", line) ==
        "only rows of experts are handed over by blocks (.readyRows), and test has none");
  CHECK(outcome.diagnostics.numErrors() == 1);
  outcome = withOptions({.readyRows = -1}, line);
  CHECK(outcome.text("ready_rows_out_of_range", line) ==
        "a block of rows that is handed over (.readyRows) cannot have -1 rows: it has at most 2147483647");
  outcome = withOptions({.minMessageSize = -1}, line);
  CHECK(outcome.text("negative_message_size", line) == "the smallest message size is negative: -1");
  outcome = withOptions({.minMessageSize = 1_MiB, .maxMessageSize = 1_KiB}, line);
  CHECK(outcome.text("message_sizes_crossed", line) ==
        "the smallest message size 1048576 is larger than the largest, 1024");
  outcome = withOptions({.minMessageSize = 1, .maxMessageSize = 0}, line);
  CHECK(outcome.text("no_message_size", line) == "with a largest message size of 0 the program takes no message; leave "
                                                 ".maxMessageSize out if there is no limit");
  CHECK(outcome.diagnostics.numErrors() == 1);
  outcome = withOptions({.oncePerRank = automatic}, line);
  CHECK(outcome.text("once_per_rank_of_dispatch", line) ==
        "'.oncePerRank' is for a Dispatch, and the program is a test: leave it out");
  CHECK(withOptions({.threadsPerBlock = 1, .bufferAlignment = 1, .minMessageSize = 8, .maxMessageSize = 8}, line)
            .program);
}

TEST_CASE("collectives out of range") {
  const auto textOf = [](std::string_view id, auto make) {
    int line = 0;
    const Outcome outcome = run([&] {
      line = __LINE__ + 1;
      CollectiveProgram program("p", make());
      Rank(3).barrier({0}); // passed over
    });
    CHECK(outcome.diagnostics.numErrors() == 1);
    return outcome.text(id, 0);
  };
  CHECK(textOf("ranks_out_of_range", [] { return AllReduce(0, 1, true); }) ==
        "a collective cannot have 0 ranks: it has 1 to 65536");
  CHECK(textOf("ranks_out_of_range", [] { return AllGather(1 << 20, 1, true); }) ==
        "a collective cannot have 1048576 ranks: it has 1 to 65536");
  CHECK(textOf("bad_chunk_factor", [] { return SendRecv(2, -3, true); }) ==
        "the chunk factor is -3: it must be at least 1");
  CHECK(textOf("bad_experts", [] { return Dispatch(2, 0); }) ==
        "each rank has 0 experts: it must be at least 1, and those of all 2 ranks at most 4096");
  CHECK(textOf("bad_experts", [] { return Combine(3, 1ll << 62); }) ==
        "each rank has 4611686018427387904 experts: it must be at least 1, and those of all 3 ranks at most 4096");
  CHECK(textOf("bad_buffer_size", [] { return TestCollective(2, -1, 1); }) ==
        "an input buffer cannot have -1 chunks: it has 0 to 4294967295");
  CHECK(textOf("bad_buffer_size", [] { return CustomCollective("c", 2, 1, 1ll << 32); }) ==
        "an output buffer cannot have 4294967296 chunks: it has 0 to 4294967295");
  CHECK(textOf("buffers_too_large", [] { return AllToAll(65536, 1ll << 60, true); }) ==
        "65536 ranks with a chunk factor of 1152921504606846976 make too large buffers: a buffer has at most "
        "4294967295 chunks");
}

TEST_CASE("expectations") {
  int line = 0;
  const Outcome outcome = run([&] {
    CustomCollective own("own", 2, 3, 4);
    line = __LINE__ + 1;
    own.expect(2, 4, {{-1, 0}, {0, 3}});
    own.expect(0, 1, {});
    own.expect(0, 2, {{1, 2}, {1, 2}});
    own.expect(1, 1, {{0, 0}});
    own.expect(1, 1, {{0, 1}});
    CollectiveProgram program("p", own);
  });
  CHECK(outcome.text("expected_rank_out_of_range", line) ==
        "expectation for rank 2 is out of range: the collective's ranks are 0 to 1");
  CHECK(outcome.text("expected_chunk_out_of_range", line) ==
        "expectation for output chunk 4 is out of range: the output has 4 chunks");
  CHECK(outcome.text("contribution_rank_out_of_range", line) ==
        "contribution of rank -1 is out of range: the collective's ranks are 0 to 1");
  CHECK(outcome.text("contribution_chunk_out_of_range", line) ==
        "contribution of input chunk 3 is out of range: the input has 3 chunks");
  CHECK(outcome.text("empty_expectation", line + 1) == "an expectation needs at least one contribution");
  CHECK(outcome.text("contribution_twice", line + 2) == "input chunk 2 of rank 1 contributes twice");
  CHECK(outcome.text("expected_twice", line + 4) == "output chunk 1 of rank 1 has an expectation already");
  CHECK(outcome.note("expected_twice", "expectation_here", line + 3) == "the first expectation is here");
}

TEST_CASE("root_out_of_range") {
  for (const std::int64_t root : {std::int64_t{-1}, std::int64_t{3}, std::int64_t{1} << 40}) {
    int line = 0;
    const Outcome outcome = run([&] {
      line = __LINE__ + 1;
      CollectiveProgram program("p", Broadcast(3, 1, root, false));
      Rank(0).barrier({0});
    });
    CHECK(outcome.text("root_out_of_range", line) ==
          "root " + std::to_string(root) + " is out of range: the collective's ranks are 0 to 2");
    CHECK(outcome.diagnostics.numErrors() == 1);
  }
}
