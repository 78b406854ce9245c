#include "catch.h"
#include "frontend/eval/child_report.h"

#include <cstring>
#include <random>

using namespace mscclc;
using namespace mscclc::frontend;

namespace {
struct Memory {
  alignas(16) std::byte bytes[1 << 16] = {};
};
} // namespace

TEST_CASE("diagnostics, algorithms and call sites arrive as they were sent") {
  auto memory = std::make_unique<Memory>();
  ChildReport report(memory->bytes);
  ir::Diagnostic d;
  d.id = "mutable_global";
  d.message = "text";
  d.place = {"a b.cpp", 3, 4, "int x;"};
  d.notes.push_back({ir::Severity::Note, "anything", "note", {"c.h", 1, 2, ""}, {}, 0});
  report.add(d);
  CHECK(report.hasErrors());
  const std::vector<AlgorithmInfo> algorithms = {
      {"f", "doc", {{"n", "int", "1", {}}, {"m", "Mode", "A", {"A", "B"}, ParameterKind::Enum}}}};
  report.add(algorithms);
  const std::vector<CallSite> sites = {{}, {"a.cpp", 7, 9}};
  report.add(sites);

  const ReceivedReport received = receive(memory->bytes);
  REQUIRE(received.diagnostics.size() == 1);
  CHECK(received.diagnostics[0].id == "mutable_global");
  CHECK(received.diagnostics[0].place == d.place);
  REQUIRE(received.diagnostics[0].notes.size() == 1);
  CHECK(received.diagnostics[0].notes[0].id == "clang");
  CHECK(received.diagnostics[0].notes[0].message == "note");
  REQUIRE(received.algorithms.size() == 1);
  CHECK(received.algorithms[0].parameters[0].kind == ParameterKind::Integer);
  CHECK(received.algorithms[0].parameters[1].kind == ParameterKind::Enum);
  CHECK(received.algorithms[0].parameters[1].enumerators == std::vector<std::string>{"A", "B"});
  REQUIRE(received.sites.size() == 2);
  CHECK(received.sites[1].file == "a.cpp");
  CHECK(received.sites[1].column == 9);
}

TEST_CASE("a report that foreign code has written to is read without harm") {
  std::mt19937 random(42);
  for (int round = 0; round < 200; ++round) {
    auto memory = std::make_unique<Memory>();
    ChildReport report(memory->bytes);
    for (int i = 0; i < 5; ++i) {
      ir::Diagnostic d;
      d.message = "message " + std::to_string(i);
      report.add(d);
      report.add(std::vector<CallSite>(3, CallSite{"file.cpp", 1, 1}));
    }
    for (int i = 0; i < 20; ++i)
      memory->bytes[sizeof(ReportHeader) + random() % 600] = static_cast<std::byte>(random());
    if (round % 2)
      report.header().used = random();
    const ReceivedReport received = receive(memory->bytes);
    INFO("round " << round << " of seed 42");
    CHECK(received.diagnostics.size() + received.sites.size() < 100000);
  }
}
