#include "catch.h"
#include "source.h"

using namespace mscclc;
using namespace mscclc::frontend;

namespace {
const std::string source = R"(#include <mscclc/dsl.hpp>
#include <string_view>
enum class Mode { Fast, Small = 5 };
constexpr int twice(int x) { return 2 * x; }
/// Sends things.
/// In two lines.
MSCCLC_ALGORITHM void send(int ranks = twice(2), unsigned char block = 3, bool loud = false, Mode mode = Mode::Small,
                           double ratio = 0.5, std::string_view name = "plan", long long big = -1) {
  using namespace mscclc;
  CollectiveProgram program(name, AllGather(ranks, 1, true));
  Rank rank(loud ? 1 : 0);
  for (int i = 0; i < static_cast<int>(mode); ++i)
    rank.copy(rank.output()[0], rank.input()[0], tb(block));
  if (ratio > 1 && big == -9223372036854775807 - 1)
    rank.barrier({0});
}
)";

std::string outcome(Parameters parameters) {
  const Compiled c = compile(sourceOptions(source, std::move(parameters)));
  if (!c.program)
    return errorsOf(c.diagnostics);
  std::string text = c.program->name + " " + std::to_string(c.program->ranks.size());
  for (std::size_t r = 0; r < c.program->ranks.size(); ++r)
    for (std::size_t b = 0; b < c.program->ranks[r].blocks.size(); ++b)
      if (const std::size_t n = c.program->ranks[r].blocks[b].ops.size())
        text += " r" + std::to_string(r) + "b" + std::to_string(b) + ":" + std::to_string(n);
  return text;
}
} // namespace

TEST_CASE("parameters reach the algorithm") {
  CHECK(outcome({}) == "plan 4 r0b3:5");
  CHECK(outcome({{"ranks", "0x8"}, {"block", "1"}, {"loud", "true"}, {"mode", "Fast"}, {"name", "a b"}}) == "a b 8");
  CHECK(outcome({{"mode", "Mode::Small"}, {"loud", "1"}, {"block", "0"}}) == "plan 4 r1b0:5");
  CHECK(outcome({{"ratio", "1.5e0"}, {"big", "-9223372036854775808"}, {"mode", "Fast"}}) == "plan 4 r0b0:1");
  CHECK(outcome({{"ranks", "2"}, {"ranks", "3"}}) == "plan 3 r0b3:5");
}

TEST_CASE("values that do not fit name the parameter and what it takes") {
  CHECK(outcome({{"ranks", "4294967296"}}) == "7:32: '4294967296' is not a value of parameter 'ranks' of type 'int': "
                                              "its values are -2147483648 to 2147483647\n");
  CHECK(outcome({{"ranks", "eight"}}) ==
        "7:32: 'eight' is not a value of parameter 'ranks' of type 'int': it takes an integer\n");
  CHECK(outcome({{"block", "-1"}}) ==
        "7:64: '-1' is not a value of parameter 'block' of type 'unsigned char': its values are 0 to 255\n");
  CHECK(outcome({{"loud", "yes"}}) ==
        "7:80: 'yes' is not a value of parameter 'loud' of type 'bool': it takes true or false\n");
  CHECK(outcome({{"mode", "Slow"}}) ==
        "7:99: 'Slow' is not a value of parameter 'mode' of type 'Mode': it takes one of Fast, Small\n");
  CHECK(outcome({{"ratio", "1x"}}) ==
        "8:35: '1x' is not a value of parameter 'ratio' of type 'double': it takes a number\n");
  CHECK(outcome({{"size", "1"}, {"ranks", ""}}) ==
        "7:23: 'send' has no parameter 'size': it has ranks, block, loud, mode, ratio, name, big\n"
        "7:32: '' is not a value of parameter 'ranks' of type 'int': it takes an integer\n");
}

TEST_CASE("a listing tells names, comments, types and defaults") {
  ir::DiagnosticEngine diagnostics;
  const auto algorithms = listAlgorithms(sourceOptions(source + "MSCCLC_ALGORITHM void second() {}\n"), diagnostics);
  REQUIRE(algorithms);
  REQUIRE(algorithms->size() == 2);
  const AlgorithmInfo &send = (*algorithms)[0];
  CHECK(send.name == "send");
  CHECK(send.doc == "Sends things.\nIn two lines.");
  std::string shown;
  for (const ParameterInfo &p : send.parameters)
    shown += p.type + " " + p.name + "=" + p.defaultValue + ";";
  CHECK(shown == "int ranks=4;unsigned char block=3;bool loud=false;Mode mode=Small;double ratio=0.5;"
                 "std::string_view name=plan;long long big=-1;");
  CHECK(send.parameters[3].enumerators == std::vector<std::string>{"Fast", "Small"});
  CHECK((*algorithms)[1].doc.empty());
}

TEST_CASE("one of several algorithms must be named") {
  const std::string two = "#include <mscclc/dsl.hpp>\nMSCCLC_ALGORITHM void a() {}\nMSCCLC_ALGORITHM void b() {}\n";
  CHECK(errorsOf(sourceOptions(two)) == "3:23: there are several algorithms: choose one with --algorithm (a, b)\n");
  FrontendOptions options = sourceOptions(two);
  options.algorithm = "c";
  CHECK(errorsOf(options) == "there is no algorithm 'c': this source has a, b\n");
  CHECK(errorsOf(sourceOptions("int x();\n")) == "no algorithm here: mark a function with MSCCLC_ALGORITHM\n");
  CHECK(errorsOf(sourceOptions("#include <mscclc/dsl.hpp>\nMSCCLC_ALGORITHM void a() {}\n"
                               "namespace n { MSCCLC_ALGORITHM void a() {} }\n")) ==
        "3:37: there are two algorithms named 'a'\n  2:23: the other one is here\n");
}

TEST_CASE("what cannot be an algorithm, or a parameter, is said") {
  const auto errors = [](const std::string &text) {
    return errorsOf(sourceOptions("#include <mscclc/dsl.hpp>\n" + text));
  };
  CHECK(errors("struct S { MSCCLC_ALGORITHM void m() {} };\n") ==
        "2:34: 'm' cannot be an algorithm: it must be a function outside a class\n");
  CHECK(errors("MSCCLC_ALGORITHM int r() { return 1; }\n") ==
        "2:22: 'r' cannot be an algorithm: it must be a function that returns nothing (void)\n");
  CHECK(errors("MSCCLC_ALGORITHM void d();\n") ==
        "2:23: 'd' cannot be an algorithm: it must be a function that is defined here\n");
  CHECK(errors("MSCCLC_ALGORITHM void n(int ranks) {}\n") ==
        "2:29: parameter 'ranks' of an algorithm needs a default value\n");
  CHECK(errors("MSCCLC_ALGORITHM void u(int = 1) {}\n") == "2:29: a parameter of an algorithm needs a name\n");
  CHECK(errors("MSCCLC_ALGORITHM void p(const char *s = \"\") {}\n") ==
        "2:37: parameter 's' of an algorithm cannot have type 'const char *': integers, bool, enums, double and "
        "std::string_view are possible\n");
  CHECK(errors("int three();\nMSCCLC_ALGORITHM void c(int n = three()) {}\n")
            .starts_with("3:33: the default value of parameter 'n' is not a constant\n") == false);
}
