#include "catch.h"
#include "source.h"

#include <chrono>

using namespace mscclc::frontend;

TEST_CASE("an endless loop ends at the limit, at the loop") {
  FrontendOptions options = sourceOptions(algorithm("unsigned i = 0;\n  while (true)\n    ++i;"));
  options.timeoutSeconds = 0.3;
  const auto start = std::chrono::steady_clock::now();
  CHECK(errorsOf(options) ==
        "4:3: the algorithm has not ended after 0.3 s: is a loop endless here? --trace-timeout sets the limit\n");
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(8));
}

TEST_CASE("an endless loop in a function shows how it was reached") {
  FrontendOptions options =
      sourceOptions(algorithm("  spin(1);", "static void spin(unsigned i) {\n  for (;;)\n    i *= 3;\n}\n"));
  options.timeoutSeconds = 0.3;
  CHECK(errorsOf(options).starts_with("3:3: the algorithm has not ended after 0.3 s"));
  CHECK(errorsOf(options).ends_with("\n  7:3: called from here\n"));
}

TEST_CASE("endless recursion is found by depth, or by the stack") {
  const std::string deep = errorsOf(
      sourceOptions(algorithm("down(1);", "static int down(int n) {\n  return n < 0 ? 0 : 1 + down(n / 2);\n}\n")));
  CHECK(deep.find("endless recursion: calls are nested more than 20000 deep") != std::string::npos);
  const std::string wide = errorsOf(sourceOptions(algorithm(
      "down(1);",
      "static int down(int n) {\n  char room[1 << 20];\n  room[n & 1] = 1;\n  return room[0] + down(n + 1);\n}\n")));
  CHECK(wide.find("the algorithm's stack of 256 MiB is full: is a recursion endless, or a local variable huge?") !=
        std::string::npos);
}

TEST_CASE("memory has a limit, at once and bit by bit") {
  const std::string include = "#include <vector>\n";
  CHECK(errorsOf(sourceOptions(algorithm("std::vector<char> v(1ul << 40);", include))) ==
        "4:19: the algorithm needs more than 64 MiB of memory; --trace-memory sets the limit\n");
  CHECK(errorsOf(sourceOptions(algorithm("std::vector<long> v;\nfor (;;)\n  v.push_back(1);", include))) ==
        "6:5: the algorithm needs more than 64 MiB of memory; --trace-memory sets the limit\n");
}

TEST_CASE("memory that was given back is there again") {
  const Compiled result = compile(sourceOptions(program(
      "for (int i = 0; i < 1000; ++i) std::vector<char> v(1 << 20);\nprogram.ranks();", "#include <vector>\n")));
  CHECK(errorsOf(result.diagnostics) == "");
  // Also where all of it is less than what rests after its release.
  FrontendOptions small = sourceOptions(
      program("for (int i = 0; i < 100; ++i) std::vector<int>(i % 2 ? 30000 : 90000);", "#include <vector>\n"));
  small.memoryBytes = std::uint64_t{1} << 20;
  CHECK(errorsOf(small) == "");
}

TEST_CASE("operations have a limit") {
  CHECK(errorsOf(sourceOptions(program("mscclc::MemoryChannel c(0, 1);\nfor (;;)\n  c.signal(mscclc::tb(0));"))) ==
        "5:1: the algorithm records more than 64 MiB of operations; --trace-memory sets the limit\n");
}

TEST_CASE("what is wrong before a run fails is reported first") {
  const std::string rank = "4:1: rank 5 is out of range: the program's ranks are 0 to 1\n";
  const std::string start = "mscclc::Rank(5);\n";
  FrontendOptions endless = sourceOptions(program(start + "for (unsigned i = 0;; ++i)\n  ;"));
  endless.timeoutSeconds = 0.3;
  CHECK(errorsOf(endless) ==
        rank +
            "5:1: the algorithm has not ended after 0.3 s: is a loop endless here? --trace-timeout sets the limit\n");
  CHECK(errorsOf(sourceOptions(program(start + "int zero = program.ranks() - 2;\nmscclc::Rank(1 / zero);"))) ==
        rank + "6:16: division by zero: the dividend is 1\n");
  CHECK(errorsOf(
            sourceOptions(program(start + "mscclc::MemoryChannel c(0, 1);\nfor (;;)\n  c.signal(mscclc::tb(0));"))) ==
        rank + "6:1: the algorithm records more than 64 MiB of operations; --trace-memory sets the limit\n");
  // That it is unfinished is no mistake of its own.
  CHECK(errorsOf(sourceOptions(program("mscclc::PipelineLoop loop(1, 1);\nint zero = program.ranks() - 2;\n"
                                       "mscclc::Rank(1 / zero);"))) == "6:16: division by zero: the dividend is 1\n");
}

TEST_CASE("a function may be long, and of many parts") {
  std::string calls, branches;
  for (int i = 0; i < 300; ++i)
    calls += "mscclc::Rank(0).copy(mscclc::Rank(0).output()[" + std::to_string(i % 2) +
             "], mscclc::Rank(0).input()[0], mscclc::tb(0));\n";
  const Compiled copied = compile(sourceOptions(program(calls)));
  CHECK(errorsOf(copied.diagnostics) == "");
  REQUIRE(copied.program);
  CHECK(copied.program->ranks[0].blocks[0].ops.size() == 300);
  for (int i = 0; i < 4500; ++i)
    branches += "if (n > " + std::to_string(i) + ") ++sum;\n";
  const Compiled counted = compile(sourceOptions(
      program("const int n = program.ranks(); int sum = 0;\n" + branches + "mscclc::Rank(0).barrier({sum});")));
  CHECK(errorsOf(counted.diagnostics) == "");
  REQUIRE(counted.program);
  CHECK(counted.program->ranks[0].blocks.size() == 3);
}

TEST_CASE("templates and constants that never end are Clang's errors") {
  CHECK(errorsOf(sourceOptions(algorithm("", "template <int n> struct D { static constexpr int v = D<n + 1>::v; };\n"
                                             "constexpr int v = D<0>::v;\n")))
            .starts_with("2:54: recursive template instantiation exceeded maximum depth of 1024\n"));
  CHECK(errorsOf(sourceOptions(algorithm("", "constexpr int e() { int i = 0; while (true) i = 1 - i; return i; }\n"
                                             "constexpr int v = e();\n")))
            .starts_with("2:15: constexpr function never produces a constant expression\n"));
}

TEST_CASE("a source that takes too long to read is given up, where it is") {
  // Doubles with each level: 2^60 instantiations.
  FrontendOptions options = sourceOptions(algorithm(
      "",
      "template <int n, int m> struct D { static constexpr int v = D<n - 1, 2 * m>::v + D<n - 1, 2 * m + 1>::v; };\n"
      "template <int m> struct D<0, m> { static constexpr int v = 1; };\nconstexpr int v = D<28, 0>::v;\n"));
  options.timeoutSeconds = 0.1;
  const std::string errors = errorsOf(options);
  CHECK((errors.find("compiling the source takes more than 10 s; a larger --trace-timeout raises the limit") !=
             std::string::npos ||
         errors.find("Clang gave up") != std::string::npos || errors.find("Clang crashed") != std::string::npos));
}
