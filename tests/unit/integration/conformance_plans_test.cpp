// Proves and runs the plans of the Python DSL. A proven plan must run right; a refused one must get clear diagnostics.
// tests/conformance/proofs.py says which plan is which.
#include "catch.h"

#include "backend-json/read_plan.h"
#include "passes/simulate/simulate.h"
#include "passes/verify/verify.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

using namespace mscclc;

namespace {

const std::filesystem::path plans = std::filesystem::path(MSCCLC_SOURCE_DIR) / "tests/conformance/plans";

ir::Program read(const std::string &name) {
  std::ifstream in(plans / (name + ".json"));
  std::ostringstream text;
  text << in.rdbuf();
  ir::DiagnosticEngine diags;
  auto program = json::readPlan(text.str(), name, diags);
  INFO(diags.render(false));
  REQUIRE(program);
  return std::move(*program);
}

struct Proof {
  passes::VerifyResult result;
  std::string text;
};
/// What some of the plans need.
const ir::AllowedNames needed{"relaxed-data", "unflushed-source", "size-change"};

Proof prove(const ir::Program &program, const ir::AllowedNames &allowed = needed) {
  ir::DiagnosticEngine diags;
  diags.allow(allowed);
  diags.setSources(&program.sources);
  return {passes::verify(program, diags), diags.render(false)};
}

std::vector<std::string> allPlans() {
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(plans))
    if (entry.path().extension() == ".json")
      names.push_back(std::filesystem::relative(entry.path(), plans).replace_extension().generic_string());
  std::sort(names.begin(), names.end());
  return names;
}

} // namespace

TEST_CASE("what a pipeline's scratch cannot hold is told with the size that is safe") {
  ir::Program program = read("single_node/allreduce_pipeline");
  const Proof proof = prove(program);
  CHECK(proof.text.find(
            "race on scratch[0] of rank 0: the write ('glres') by rank 0, block 1 and the write ('copy') by rank "
            "0, block 0 are not ordered") != std::string::npos);
  CHECK(proof.text.find("limiting messages to 67108864 bytes would do too") != std::string::npos);
  CHECK(proof.text.find("rank 0, block 1 writes scratch[0] of rank 0 ('glres') only now") != std::string::npos);
  program.maxMessageSize = 64 << 20;
  CHECK(prove(program).result.proven);
}

TEST_CASE("each fault is told with both places, what is missing, and how it comes about") {
  const std::map<std::string, std::vector<std::string>> told{
      {"default_algos/reducescatter_multi_nodes",
       {"$.gpus[7].threadblocks[7].ops[1]: error: race on output[0] of rank 7: the write ('recpkt') by rank 7, block 7 "
        "and "
        "the write ('upkt') by rank 7, block 7 are not ordered",
        "$.gpus[7].threadblocks[7].ops[0]: note: the other access: write ('recpkt') by rank 7, block 7",
        "threads of a block do not wait for each other: a nop between the two operations would order them",
        "rank 7, block 7 writes output[0] of rank 7 ('recpkt') only now"}},
      {"default_algos/reducescatter_multi_nodes.ranks=6,gpusPerNode=2,groupSize=3",
       {"the write ('recpkt')", "the write ('upkt')", "are not ordered", "('recpkt') only now"}},
      {"default_algos/reducescatter_multi_nodes.ranks=8,gpusPerNode=4,groupSize=2,instances=2",
       {"$.gpus[3].threadblocks[12].ops[0]: error: packet scratch[6] of rank 3 is written twice in one launch: its "
        "reader "
        "cannot tell which packets it sees",
        "$.gpus[1].threadblocks[10].ops[0]: note: the other access: write ('ppkt') by rank 1, block 10"}},
      {"multi_node/reducescatter",
       {"$.gpus[7].threadblocks[0].ops[6]: error: launched again, it races on input[15] of rank 7: the read ('pws') by "
        "rank "
        "7, block 0 of one launch and the write ('rre') by rank 7, block 0 of a later one are not ordered",
        "$.gpus[7].threadblocks[0].ops[12]: note: the other access: read ('pws') by rank 7, block 0",
        "the port may still read its source: a flush of the channel after the put (or pwsf) and a nop would order "
        "them",
        "rank 7, block 0, launched again, runs up to its operation 5 ('rre')",
        "rank 7, block 0 writes input[15] of rank 7 ('rre')",
        "rank 7, block 0 reads input[15] of rank 7 ('pws') only now",
        "warning: rank 0 may end its launch while the port still reads input[8] of rank 0"}},
      {"unit/put_put_fuse_test",
       {"$.gpus[0].threadblocks[0].ops[5]: error: race on input[0] of rank 0: the write ('put') by rank 1, block 0 and "
        "the "
        "read ('put') by rank 0, block 0 are not ordered",
        "$.gpus[1].threadblocks[0].ops[5]: note: the other access", "no sync orders them: a signal from rank 1",
        "rank 0, block 0 reads input[0] of rank 0 ('put')",
        "rank 1, block 0 writes input[0] of rank 0 ('put') only now"}},
      {"unit/read_put_packet_test",
       {"$.gpus[0].threadblocks[0].ops[0]: error: deadlock: rank 0, block 0 waits for packet scratch[0] of rank 0, "
        "which "
        "never comes",
        "and 1 more like it on other ranks"}},
      {"unit/reduce_copy_packet_test", {"rank 0, block 0 waits for packet scratch[0] of rank 0, which never comes"}},
      {"unit/reduce_copy_send_packet_test",
       {"rank 0, block 0 waits for packet scratch[0] of rank 0, which never comes"}},
      {"unit/reduce_packet_reduce_packets_fuse_test",
       {"$.gpus[0].threadblocks[0].ops[0]: error: packet scratch[1] of rank 0 overlaps plain scratch[3]"}},
      {"unit/reduce_packet_reduce_packets_test", {"packet scratch[1] of rank 0 overlaps plain scratch[2]"}},
      {"unit/reduce_send_packet_test", {"packet scratch[1] of rank 0 overlaps plain scratch[2]", "1 more like it"}},
      {"unit/signal_wait_relaxed_signal_wait_fuse_test",
       {"$.gpus[1].threadblocks[0].ops[1]: error: memory channel 0 of rank 1 (to rank 0) is signalled 1 time a launch, "
        "but "
        "its other end, memory channel 0 of rank 0 (to rank 1), waits 0 times",
        "$.gpus[0].threadblocks[0].ops[3]: error: memory channel 2 of rank 0 (to rank 1) is waited on 1 time"}},
      {"unit/signal_wait_signal_wait_fuse_test",
       {"memory channel 0 of rank 1 (to rank 0) is signalled 1 time a launch",
        "memory channel 2 of rank 0 (to rank 1) is waited on 1 time a launch"}},
  };
  for (const auto &[name, lines] : told) {
    const Proof proof = prove(read(name));
    CAPTURE(name, proof.text);
    CHECK_FALSE(proof.result.proven);
    for (const std::string &line : lines) {
      CAPTURE(line);
      CHECK(proof.text.find(line) != std::string::npos);
    }
  }
}

TEST_CASE("switches that end with relaxed signals are proven if that is allowed") {
  const Proof proof = prove(read("single_node/allreduce_nvls_zero_copy"), {});
  CHECK(prove(read("single_node/allreduce_nvls_zero_copy")).result.proven);
  CHECK(proof.result.errors == 64);
  CHECK(proof.text.find("rank 0 learns that output[8] of rank 0 is written only by a relaxed signal") !=
        std::string::npos);
}

TEST_CASE("proven plans run right", "[slow]") {
  std::size_t proven = 0;
  for (const std::string &name : allPlans()) {
    const ir::Program program = read(name);
    if (!prove(program).result.proven)
      continue;
    ++proven;
    ir::DiagnosticEngine diags;
    passes::SimulateOptions options;
    options.schedules = program.ranks.size() > 3 ? 2 : 10;
    if (program.reuseResources || name == "unit/pipeline_test") {
      // The least multiple of what the chunks need that is no smaller than any plan's least message.
      const std::uint64_t step = 16 * std::max(program.ranks[0].inputChunks, program.ranks[0].outputChunks);
      options.sizes = {(1024 + step - 1) / step * step};
    }
    options.allow(needed);
    const bool ok = passes::simulate(program, diags, options).ok;
    CAPTURE(name, diags.render(false));
    CHECK(ok);
  }
  CHECK(proven >= 50);
}
