// Which sync fuse drops beside another, which lower-data-sync then writes down.
#include "../passes/ir_text.h"

using namespace mscclc::passes;

namespace {

const char *const lowered = "fuse,lower-data-sync";

struct Row {
  const char *in, *out;
};

TEST_CASE("sync beside another sync") {
  const Row rows[] = {
      {"nop\nnop\nnop", "nop\n"},
      {"nop\nbarrier 0 blocks 1", "barrier 0 blocks 1\n"},
      {"barrier 0 blocks 1\nnop", "barrier 0 blocks 1\n"},
      {"nop\nwait memory [0] sync both", "nop\nwait memory [0]\nnop\n"},
      {"barrier 0 blocks 1\nflush port [0] sync before", "barrier 0 blocks 1\nflush port [0]\n"},
      {"wait memory [0] sync after\nnop", "wait memory [0]\nnop\n"},
      {"sem_acquire [0] sync both\nbarrier 0 blocks 1", "nop\nsem_acquire [0]\nbarrier 0 blocks 1\n"},
      {"wait memory [0] sync after\nsignal memory [0] sync before", "wait memory [0]\nnop\nsignal memory [0]\n"},
      {"wait memory [0] sync after\nsignal memory [0]", "wait memory [0]\nnop\nsignal memory [0]\n"},
      {"wait memory [0]\nsignal memory [0] sync before", "wait memory [0]\nnop\nsignal memory [0]\n"},
      {"signal memory [0] sync before\nsignal memory [1] sync after", "nop\nsignal memory [0, 1]\nnop\n"},
  };
  for (const Row &row : rows) {
    CHECK(opsAfter(lowered, row.in) == row.out);
  }
}

TEST_CASE("without fusion, each request stands") {
  CHECK(opsAfter("lower-data-sync", "wait memory [0] sync after\nsignal memory [0] sync both") ==
        "wait memory [0]\nnop\nnop\nsignal memory [0]\nnop\n");
}

TEST_CASE("a pipeline syncs as its body begins and ends") {
  const std::string head = "pipeline unit_size 64 num_chunks 1 {\n";
  const Row rows[] = {
      {"nop\nP{nop\ncopy output[0:1] <- input[0:1]\n}", "P{nop\ncopy output[0:1] <- input[0:1]\n}\n"},
      {"wait memory [0] sync after\nP{signal memory [0] sync before\n}",
       "wait memory [0]\nP{nop\nsignal memory [0]\n}\n"},
      {"wait memory [0] sync after\nP{copy output[0:1] <- input[0:1]\nbarrier 0 blocks 1\n}",
       "wait memory [0]\nnop\nP{copy output[0:1] <- input[0:1]\nbarrier 0 blocks 1\n}\n"},
      {"P{copy output[0:1] <- input[0:1]\nnop\n}\nnop", "P{copy output[0:1] <- input[0:1]\nnop\n}\n"},
      {"P{wait memory [0] sync after\n}\nsignal memory [0] sync before",
       "P{wait memory [0]\nnop\n}\nsignal memory [0]\n"},
      {"P{nop\ncopy output[0:1] <- input[0:1]\n}\nnop", "P{nop\ncopy output[0:1] <- input[0:1]\n}\nnop\n"},
      // The body is fused on its own, also behind a nop that falls away.
      {"nop\nP{nop\nsignal memory [0]\nsignal memory [1]\n}", "P{nop\nsignal memory [0, 1]\n}\n"},
      {"signal memory [0]\nP{signal memory [1]\n}\nsignal memory [2]",
       "signal memory [0]\nP{signal memory [1]\n}\nsignal memory [2]\n"},
  };
  for (const Row &row : rows) {
    auto spell = [&](std::string text) {
      for (std::size_t at; (at = text.find("P{")) != text.npos;)
        text.replace(at, 2, head);
      return text;
    };
    CHECK(opsAfter(lowered, spell(row.in)) == spell(row.out));
  }
}

TEST_CASE("nops are where the requests were") {
  const Outcome outcome = runPasses(parseProgram(programText("signal memory [0] sync before @1") +
                                                 "locations {\nfile0 = \"a.cpp\"\n@1 = file0:3:1\n}\n"),
                                    "lower-data-sync");
  const auto &ops = outcome.program.ranks[0].blocks[0].ops;
  REQUIRE(ops.size() == 2);
  CHECK(ops[0].loc == ops[1].loc);
  CHECK(ops[1].sync == mscclc::ir::DataSync::None);
}

} // namespace
