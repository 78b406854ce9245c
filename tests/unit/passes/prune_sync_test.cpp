// Tests who proves the program after prune-sync has removed something.
#include "ir_text.h"

#include "passes/prune/prune_sync.h"

using namespace mscclc::passes;
namespace ir = mscclc::ir;

namespace {

/// An all-gather of two ranks with two nops at the end of each block that order nothing.
std::string allGather() {
  std::string text = "mscclc.ir 1\nprogram \"p\" {\ncollective allgather inplace\n";
  for (const std::string own : {"0", "1"}) {
    const std::string peer = own == "0" ? "1" : "0", chunk = own == "0" ? "[0:1]" : "[1:2]";
    text += "rank " + own + " {\nbuffers input 1 output 2 scratch 0\nmemory_channels [" + peer +
            "]\nremote0 = " + peer +
            ".output via memory\nblock 0 {\nchannels [memory 0]\nremotes [memory 0]\n"
            "rlxsignal memory [0]\nrlxwait memory [0]\nnop\nput memory remote0" +
            chunk + " <- output" + chunk + "\nnop\nsignal memory [0]\nwait memory [0]\nnop\nnop\n}\n}\n";
  }
  return text + "}\n";
}

struct Pruned {
  std::uint64_t nops = 0, proofs = 0; ///< as the pass counts them
  std::size_t operations = 0;         ///< that are left
};

Pruned prune(Prover prover) {
  ir::Program program = parseProgram(allGather());
  PassManager manager({}, propertiesOf(program));
  manager.use("prune-sync", createPruneSyncPass(std::move(prover)));
  REQUIRE(manager.add("prune-sync").empty());
  ir::DiagnosticEngine diags;
  const PassRun run = manager.run(program, diags);
  REQUIRE(run.ok);
  CHECK(run.records.at(0).pass == "prune-sync");
  Pruned pruned{.operations = program.numOps()};
  for (const PassStats::Counter &counter : run.records.at(0).stats.counters()) {
    if (counter.name == "nops dropped")
      pruned.nops = counter.value;
    if (counter.name == "proofs made")
      pruned.proofs = counter.value;
  }
  return pruned;
}

TEST_CASE("what prune-sync drops is proven by its caller, once, and else by itself") {
  const std::size_t operations = parseProgram(allGather()).numOps();
  const Pruned alone = prune({});
  CHECK((alone.nops == 4 && alone.proofs > 0 && alone.operations == operations - 4));
  for (const bool proven : {true, false}) {
    INFO(proven);
    std::vector<std::size_t> asked;
    const Pruned pruned = prune([&](const ir::Program &less) {
      asked.push_back(less.numOps());
      return proven;
    });
    CHECK(asked == std::vector{operations - 4});
    CHECK(pruned.operations == operations - 4);
    CHECK(pruned.proofs == (proven ? 0 : alone.proofs));
  }
}

} // namespace
