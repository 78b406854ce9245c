// Tests source locations of operations, with the calls that led there.
#include "frontend/trace/record_abi.h"
#include "recorded.h"

using namespace mscclc;
using namespace mscclc::frontend;

namespace {
/// What instrumented code does around a call.
struct Calling {
  explicit Calling(std::uint32_t site) {
    CallStack &stack = __mscclc_call_stack;
    if (stack.depth < CallStack::capacity)
      stack.sites[stack.depth] = site;
    ++stack.depth;
  }
  ~Calling() { --__mscclc_call_stack.depth; }
};
const CallSite sites[] = {{"user.cpp", 10, 3}, {"user.cpp", 20, 5}, {"other.cpp", 30, 7}};
} // namespace

TEST_CASE("an operation's place has its call chain, innermost call first") {
  int line = 0;
  const std::vector<std::byte> recording = trace([&] {
    CollectiveProgram program("p", TestCollective(2, 1, 1));
    const Calling outer(0);
    for (const std::uint32_t site : {1u, 2u, 1u}) {
      const Calling inner(site);
      line = __LINE__ + 1;
      Rank(0).barrier({0});
    }
  });
  const Outcome outcome = build(recording, sites);
  const ir::Program &program = outcome.program.value();
  const std::vector<ir::Op> &ops = program.ranks[0].blocks[0].ops;
  REQUIRE(ops.size() == 3);
  CHECK(ops[0].loc == ops[2].loc);
  CHECK(ops[0].loc != ops[1].loc);
  const ir::Loc place = program.sources.get(ops[1].loc);
  CHECK(place.line == static_cast<std::uint32_t>(line));
  CHECK(program.sources.files()[place.file] == __FILE__);
  const ir::Loc inner = program.sources.get(place.caller);
  CHECK(program.sources.files()[inner.file] == "other.cpp");
  CHECK((inner.line == 30 && inner.column == 7));
  const ir::Loc outer = program.sources.get(inner.caller);
  CHECK((outer.line == 10 && outer.column == 3 && outer.caller == ir::noLoc));
}

TEST_CASE("an error shows the calls that led to it") {
  const std::vector<std::byte> recording = trace([] {
    CollectiveProgram program("p", TestCollective(2, 1, 1));
    const Calling outer(0), inner(2);
    Rank(2);
  });
  const Outcome outcome = build(recording, sites);
  REQUIRE(outcome.diagnostics.all().size() == 1);
  const std::vector<ir::Diagnostic> &notes = outcome.diagnostics.all()[0].notes;
  REQUIRE(notes.size() == 2);
  CHECK((notes[0].place.file == "other.cpp" && notes[0].place.line == 30));
  CHECK((notes[1].place.file == "user.cpp" && notes[1].place.line == 10));
}

TEST_CASE("a chain deeper than the stack keeps its outer part") {
  const std::vector<std::byte> recording = trace([] {
    CollectiveProgram program("p", TestCollective(2, 1, 1));
    for (std::uint32_t i = 0; i < 1000; ++i) {
      if (__mscclc_call_stack.depth < CallStack::capacity)
        __mscclc_call_stack.sites[__mscclc_call_stack.depth] = i % 3;
      ++__mscclc_call_stack.depth;
    }
    Rank(0).barrier({0});
    __mscclc_call_stack.depth = 0;
  });
  const Outcome outcome = build(recording, sites);
  const ir::SourceMap &sources = outcome.program.value().sources;
  std::uint32_t depth = 0;
  for (ir::LocId loc = outcome.program->ranks[0].blocks[0].ops[0].loc; loc != ir::noLoc; loc = sources.get(loc).caller)
    ++depth;
  CHECK(depth == CallStack::capacity + 1);
}

TEST_CASE("contents given for a file serve the excerpts") {
  const std::vector<std::byte> recording = trace([] { CollectiveProgram program("p", AllReduce(0, 1, true)); });
  ir::DiagnosticEngine diagnostics;
  const SourceText texts[] = {{__FILE__, std::string(__LINE__ - 3, '\n') + "the line\n"}};
  CHECK_FALSE(buildProgram(recording, {}, diagnostics, texts));
  CHECK(diagnostics.all().front().place.excerpt == "the line");
}
