// Tests malicious text: every prefix, flipped bytes, deep nesting, long lines, binary data.
#include "catch.h"
#include "ir/text.h"
#include "random_program.h"

using namespace mscclc;
using namespace mscclc::ir;

namespace {
/// Parses, and checks that a refusal comes with an error and an accepted text round-trips.
void survives(std::string_view text) {
  DiagnosticEngine diagnostics;
  const auto program = parse(text, "x.ir", diagnostics);
  REQUIRE(program.has_value() == !diagnostics.hasErrors());
  REQUIRE(diagnostics.all().size() <= 100);
  if (!program)
    return;
  std::string once, twice;
  print(*program, once);
  const auto again = parse(once, "x.ir", diagnostics);
  REQUIRE(again);
  print(*again, twice);
  REQUIRE(once == twice);
}

std::string sample(std::uint64_t seed, bool movement = false) {
  std::string text;
  print(test::randomProgram(seed, {2, 2, 12, true, movement}), text);
  return text;
}
} // namespace

TEST_CASE("every prefix of a text is refused or read") {
  for (const std::string &text : {sample(11), sample(11, true)})
    for (std::size_t size = 0; size <= text.size(); ++size)
      survives(std::string_view(text).substr(0, size));
}

TEST_CASE("texts with changed bytes are refused or read") {
  std::mt19937_64 random(2024);
  for (int round = 0; round < 1000; ++round) {
    INFO("round " << round);
    std::string text = sample(random() % 8, round % 3 == 0);
    for (auto changes = random() % 4 + 1; changes != 0; --changes) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, random() % 20);
        break;
      case 2:
        text.insert(at, text.substr(random() % text.size(), random() % 40));
        break;
      default:
        text[at] = "0123456789{}[]%@\n\" "[random() % 19];
      }
    }
    survives(text);
  }
}

TEST_CASE("huge numbers cost nothing") {
  survives("mscclc.ir 1\nprogram \"p\" {\nrank 4294967295 {\n}\n}\n");
  survives("mscclc.ir 1\nprogram \"p\" {\nschedule auto\nranks_per_node 4294967295\nmost_blocks 4294967295\nrank 0 {\n"
           "buffers input 4294967295\n}\nmove {\ncopy 0.input[4294967295:8589934590] <- 0.input[0:4294967295]\n"
           "copy 0.input[4294967290:4294967295] <- 0.input[0:5] by 4294967295 block 4294967295\n}\n}\n");
  survives("mscclc.ir 1\nprogram \"p\" {\ncollective allgather inplace\nrank 0 {\nbuffers input 4294967295 output "
           "4294967295 scratch 4294967295\nblock 0 {\ncopy output[4294967290:4294967295] <- input[0:5]%in\n"
           "cpkt scratch[4294967294:4294967295] <- input[4294967294:4294967295]%0\n"
           "copy output[0:4294967295] <- scratch[4294967295:8589934590]%{in}\n}\n}\n}\n");
  survives("mscclc.ir 1\nprogram \"p\" {\nrank 0 {\nblock 0 {\nbarrier 18446744073709551615 blocks 4294967295\n"
           "signal memory [4294967295]\nput port [7] remote4294967295[0:1] <- input[0:1]\n"
           "glre switch [3] output[0:1] <- switch4294967295[0:1]%in\nnop @4294967295\n}\n}\n}\n");
}

TEST_CASE("deep nesting, endless lines and one byte repeated") {
  const std::string head = "mscclc.ir 1\nprogram \"p\" {\nrank 0 {\nblock 0 {\n";
  std::string nested = head;
  for (int i = 0; i < 200000; ++i)
    nested += "pipeline unit_size 1 num_chunks 1 {\n";
  survives(nested);
  std::string unknown = "mscclc.ir 1\nprogram \"p\" {\n";
  for (int i = 0; i < 200000; ++i)
    unknown += "x {\n";
  survives(unknown);
  for (const char c : {'a', '{', '}', '\n', ' ', '"', '\0', '[', '%', '\xff', '/'}) {
    survives(std::string(1'000'000, c));
    survives(head + std::string(1'000'000, c));
  }
  std::string list = head + "signal memory [0";
  for (int i = 0; i < 1'000'000; ++i)
    list += ",0";
  survives(list + "]\n");
}

TEST_CASE("a pipeline whose line goes on opens no body") {
  survives("mscclc.ir 1\nprogram \"p\" {\nrank 0 {\nblock 0 {\npipeline unit_size 1 num_chunks 0 {x}\n}\n}\n}\n");
}
