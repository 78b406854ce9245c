// Tests measured traces: how they are read, the errors for broken ones, and how they are compared.
#include "timed.h"

#include "passes/time/trace_diff.h"

#include <set>

using namespace mscclc::passes::time;
using namespace mscclc;

namespace {

std::string traceFaultOf(const std::string &text) {
  try {
    readTrace(text);
  } catch (const TraceError &error) {
    return error.message;
  }
  return "nothing";
}

std::string eventOf(const std::string &phase, const std::string &name, std::uint32_t rank, std::uint32_t block,
                    double at, double duration = 0) {
  return R"({"ph": ")" + phase + R"(", "name": ")" + name + R"(", "pid": )" + std::to_string(rank) + R"(, "tid": )" +
         std::to_string(block + 1) + R"(, "ts": )" + std::to_string(at) + R"(, "dur": )" + std::to_string(duration) +
         "}";
}

std::string traceOf(const std::vector<std::string> &events) {
  std::string text;
  for (const std::string &event : events)
    text += (text.empty() ? "" : ", ") + event;
  return R"({"traceEvents": [)" + text + "]}";
}

/// One block: a copy of 64 KiB, a nop and another copy, each copy 250 + 65536 / 50 ns long.
const double copyTime = 250 + 65536 / 50.0;
ir::Program twoCopies() {
  return programOf("rank 0 {\nbuffers input 1 output 2 scratch 0\nblock 0 {\ncopy output[0:1] <- input[0:1]\nnop\n"
                   "copy output[1:2] <- input[0:1]\n}\n}\n");
}

TraceDifference compare(const std::vector<std::string> &events) {
  const ir::Program program = twoCopies();
  const Estimate own = estimate(program, roundMachine(), Runner::Kernel, 65536);
  return compareTraces(program, own.timeline, readTrace(traceOf(events)));
}

TEST_CASE("each operation of the executor has one name in NPKit") {
  std::set<std::string_view> names;
  for (std::size_t kind = 0; kind < ir::opKindCount; ++kind)
    if (const std::string_view name = ir::opInfos[kind].event; !name.empty()) {
      CHECK(names.insert(name).second);
      CHECK(isNameOf(name, static_cast<ir::OpKind>(kind)));
    }
  CHECK(names.size() == 33); // 30 of execution_common.hpp, but the pipeline; 4 to come
  CHECK(isNameOf("rlxwait", ir::OpKind::RelaxedWait));
  CHECK(isNameOf("relaxed wait", ir::OpKind::RelaxedWait));
  CHECK_FALSE(isNameOf("wait", ir::OpKind::RelaxedWait));
  CHECK_FALSE(isNameOf("", ir::OpKind::SwitchReduce));
  CHECK_FALSE(isNameOf("pipeline", ir::OpKind::Pipeline));
}

TEST_CASE("events of NPKit and of our own are read") {
  const MeasuredTrace trace =
      readTrace(traceOf({eventOf("B", "NPKIT_EVENT_EXECUTOR_INIT_ENTRY", 1, 2, 0.5), eventOf("E", "", 1, 2, 0.75),
                         eventOf("B", "NPKIT_EVENT_EXECUTOR_PUT_PACKETS_ENTRY", 1, 2, 1), eventOf("E", "", 1, 2, 3.5),
                         eventOf("B", "NPKIT_EVENT_CONN_IB_WRITE_ENTRY", 1, 999, 1), eventOf("E", "", 1, 999, 2),
                         eventOf("B", "NPKIT_EVENT_EXECUTOR_PUT_ENTRY", 1, 2, 4)}));
  CHECK(trace.npkit);
  REQUIRE(trace.blocks.size() == 1);
  const std::vector<MeasuredOp> &ops = trace.blocks.at({1, 2});
  REQUIRE(ops.size() == 2);
  CHECK(ops[0].name == MeasuredOp::launch);
  CHECK(trace.names.at(ops[1].name) == "PUT_PACKETS");
  CHECK(ops[1].start == 1000);
  CHECK(ops[1].end == 3500);
  CHECK(trace.others == 2); // a proxy's write, and what never ends

  // A further lane of a block is the same block; what began first comes first.
  const MeasuredTrace own =
      readTrace("[" + eventOf("X", "put (critical)", 0, 1, 5, 2) + ", " + eventOf("X", "wait", 0, 1'000'001, 4, 1) +
                ", " + eventOf("X", "proxy", 0, 999, 4, 1) + ", " + eventOf("C", "x", 0, 0, 1) + "]");
  CHECK_FALSE(own.npkit);
  REQUIRE(own.blocks.size() == 1);
  CHECK(own.names.at(own.blocks.at({0, 1})[0].name) == "wait");
  CHECK(own.names.at(own.blocks.at({0, 1})[1].name) == "put");
  CHECK(own.others == 1);
}

TEST_CASE("what is wrong with a trace is told by the event") {
  CHECK(traceFaultOf(R"({"traceEvents": []})") == "nothing");
  CHECK(traceFaultOf("[]") == "nothing");
  for (const char *text :
       {"{}", "3", "null", "\"traceEvents\"", R"({"traceEvents": 1})", R"({"a": {"traceEvents": []}})"})
    CHECK(traceFaultOf(text) == "it has no list 'traceEvents'");
  for (const char *text : {"", "{", "[{]", R"({"traceEvents": [}})", "[{\"ts\": 1e999}]", "[\"\xff\"]"})
    CHECK_THAT(traceFaultOf(text), containsText("it is not a JSON text: "));
  for (const char *text : {"[1]", "[[]]", R"({"traceEvents": [null]})"})
    CHECK(traceFaultOf(text) == "event 1 is no object");
  CHECK(traceFaultOf("[{}]") == "event 1 has no 'ph' that is a string");
  CHECK(traceFaultOf(R"([{"ph": 1}])") == "event 1 has no 'ph' that is a string");
  CHECK(traceFaultOf(R"([{"ph": "M"}, {"ph": "X"}])") == "event 2 has no 'pid' that is a whole number");
  for (const char *value : {"-1", "1.5", "\"1\"", "null", "1e300", "[]"})
    CHECK(traceFaultOf(R"([{"ph": "X", "pid": 0, "tid": )" + std::string(value) + "}]") ==
          "event 1 has no 'tid' that is a whole number");
  const std::string thread = R"([{"ph": "X", "pid": 0, "tid": 1, )";
  for (const char *value : {"\"1\"", "null", "1e16", "-1e300", "{}"})
    CHECK(traceFaultOf(thread + R"("ts": )" + value + "}]") == "event 1 has no 'ts' that is a number of microseconds");
  CHECK(traceFaultOf(thread + R"("ts": 1}])") == "event 1 has no 'dur' that is a number of microseconds");
  CHECK(traceFaultOf(thread + R"("ts": 1, "dur": -1, "name": "put"}])") == "event 1 lasts less than nothing");
  CHECK(traceFaultOf(thread + R"("ts": 1, "dur": 1}])") == "event 1 has no 'name' that is a string");
  CHECK(traceFaultOf("[" + eventOf("B", "put", 0, 0, 5) + ", " + eventOf("E", "", 0, 0, 4) + "]") ==
        "event 2 ends before it began");
  CHECK_THAT(traceFaultOf("{\"a\": " + std::string(100'000, '[')), containsText("it is not a JSON text: "));
  // Numbers beyond any rank and block are no place of a program.
  CHECK(readTrace(R"([{"ph": "X", "name": "put", "pid": 18446744073709551615, "tid": 0, "ts": 0, "dur": 1}])").others ==
        1);
}

TEST_CASE("operations are compared one by one, and those that depart are told first") {
  const double us = copyTime / 1e3;
  const TraceDifference same =
      compare({eventOf("X", "copy", 0, 0, 1, us), eventOf("X", "sync", 0, 0, 5, 0), eventOf("X", "copy", 0, 0, 9, us)});
  CHECK(same.compared == 3);
  CHECK(same.unmeasured == 0);
  CHECK(same.unpredicted == 0);
  CHECK(same.launches == 1);
  for (const OperationDifference &difference : same.operations)
    CHECK(difference.departing == 0);
  REQUIRE(same.ranks.size() == 1);
  CHECK(std::abs(same.ranks[0].predicted - 2 * copyTime) < 1e-3);
  CHECK(std::abs(same.ranks[0].measured - 8000 - copyTime) < 1);

  // Three launches, by NPKit's names: of each operation the median counts.
  std::vector<std::string> events;
  for (const double slow : {1.0, 10.0, 2.0}) {
    const double at = 100 * slow;
    for (const auto &[phase, name, when] :
         {std::tuple("B", "NPKIT_EVENT_EXECUTOR_COPY_ENTRY", at), std::tuple("E", "", at + us),
          std::tuple("B", "NPKIT_EVENT_EXECUTOR_NOP_ENTRY", at + us), std::tuple("E", "", at + us),
          std::tuple("B", "NPKIT_EVENT_EXECUTOR_COPY_ENTRY", at + us), std::tuple("E", "", at + us + slow * us)})
      events.push_back(eventOf(phase, name, 0, 0, when));
  }
  const TraceDifference slow = compare(events);
  CHECK(slow.launches == 3);
  CHECK(slow.compared == 9);
  REQUIRE(slow.operations.size() == 3);
  CHECK(slow.operations[0].first == ir::OpRef{0, 0, 2});
  CHECK(slow.operations[0].departing == 1);
  CHECK(std::abs(slow.operations[0].measured / copyTime - 2) < 1e-2);
  CHECK(slow.operations[1].departing + slow.operations[2].departing == 0);
}

TEST_CASE("what has no counterpart is counted, and what comes after is compared") {
  const double us = copyTime / 1e3;
  // A get that the program has not; a nop that the trace has not.
  const TraceDifference other = compare({eventOf("X", "copy", 0, 0, 1, us), eventOf("X", "get", 0, 0, 3, 1),
                                         eventOf("X", "copy", 0, 0, 9, us), eventOf("X", "copy", 7, 0, 9, us)});
  CHECK(other.compared == 2);
  CHECK(other.unpredicted == 2); // the get, and a copy of a rank that the program has not
  CHECK(other.unmeasured == 1);
  CHECK(compare({eventOf("X", "get", 0, 0, 3, 1)}).compared == 0);
  // NPKit's room is out: the trace ends early, and the next launch begins.
  const TraceDifference marked =
      compare({eventOf("X", "NPKIT_EVENT_EXECUTOR_INIT_ENTRY", 0, 0, 1), eventOf("X", "copy", 0, 0, 2, us),
               eventOf("X", "NPKIT_EVENT_EXECUTOR_INIT_ENTRY", 0, 0, 10), eventOf("X", "copy", 0, 0, 11, us),
               eventOf("X", "sync", 0, 0, 15, 0)});
  CHECK(marked.launches == 2);
  CHECK(marked.compared == 3);
  CHECK(marked.unmeasured == 1);
}

TEST_CASE("what departs is off by a share and by a time") {
  CHECK_FALSE(departs(1400, 1000)); // 40 %, but 0.4 us
  CHECK_FALSE(departs(12900, 10000));
  CHECK(departs(13100, 10000));
  CHECK(departs(6900, 10000));
}

} // namespace
