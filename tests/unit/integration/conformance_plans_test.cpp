// The Python DSL's plans, proven and run: each passes, or has a fault that is named here.
#include "catch.h"

#include "backend-json/read_plan.h"
#include "ir/op_semantics.h"
#include "passes/simulate.h"
#include "passes/verify.h"

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
  std::string first; ///< id of the first error
  std::string text;
};
Proof prove(const ir::Program &program) {
  ir::DiagnosticEngine diags;
  diags.setSources(&program.sources);
  Proof proof{passes::verify(program, diags), "", diags.render(false)};
  for (const ir::Diagnostic &d : diags.all())
    if (d.severity == ir::Severity::Error && proof.first.empty())
      proof.first = d.id;
  return proof;
}

std::vector<std::string> allPlans() {
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(plans))
    if (entry.path().extension() == ".json")
      names.push_back(std::filesystem::relative(entry.path(), plans).replace_extension().generic_string());
  std::sort(names.begin(), names.end());
  return names;
}

/// Plans that are not right, with what is found first.
const std::map<std::string, std::string> faulty{
    // From the 33rd iteration on, block 0 writes scratch slots that blocks 1 and 2 may still use.
    {"single_node/allreduce_pipeline", "race"},
    // `pws` without a flush: the next launch reduces into what the port may still be sending.
    {"multi_node/reducescatter", "relaunch_race"},
    // `ppkt` through a port takes plain data (the DSL's documentation), and these give it packets, as the executor
    // wants.
    {"default_algos/allreduce_multi_nodes", "packet_plain_overlap"},
    {"default_algos/allreduce_multi_nodes.ranks=6,gpusPerNode=2,groupSize=4,threads=768", "packet_plain_overlap"},
    {"default_algos/allreduce_multi_nodes.ranks=8,gpusPerNode=4,groupSize=2", "packet_plain_overlap"},
    // `recpkt` and the `upkt` behind it write one chunk, with no sync between them.
    {"default_algos/reducescatter_multi_nodes", "race"},
    {"default_algos/reducescatter_multi_nodes.ranks=6,gpusPerNode=2,groupSize=3", "race"},
    // Both instances write one packet: replication leaves the packets that a reduce writes where they are.
    {"default_algos/reducescatter_multi_nodes.ranks=8,gpusPerNode=4,groupSize=2,instances=2", "slot_written_twice"},
    // Tests of single operations. Both ranks put into the input that the other is putting from.
    {"unit/put_put_fuse_test", "race"},
    // They read packets that nobody sends.
    {"unit/read_put_packet_test", "waits_for_ever"},
    {"unit/reduce_copy_packet_test", "waits_for_ever"},
    {"unit/reduce_copy_send_packet_test", "waits_for_ever"},
    // Packet chunk 1 lies over plain chunks 2 and 3.
    {"unit/reduce_packet_reduce_packets_fuse_test", "packet_plain_overlap"},
    {"unit/reduce_packet_reduce_packets_test", "packet_plain_overlap"},
    {"unit/reduce_send_packet_test", "packet_plain_overlap"},
    // They signal channels 0 and 1 and wait on channels 2 and 3.
    {"unit/signal_wait_relaxed_signal_wait_fuse_test", "signal_without_wait"},
    {"unit/signal_wait_signal_wait_fuse_test", "signal_without_wait"},
};

} // namespace

TEST_CASE("every plan is proven, or its fault is known") {
  const auto names = allPlans();
  CHECK(names.size() >= 75);
  for (const std::string &name : names) {
    const Proof proof = prove(read(name));
    CAPTURE(name, proof.text);
    const auto fault = faulty.find(name);
    CHECK(proof.result.proven == (fault == faulty.end()));
    CHECK(proof.first == (fault == faulty.end() ? "" : fault->second));
  }
}

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

TEST_CASE("a port that still reads is told with the schedule") {
  const Proof proof = prove(read("multi_node/reducescatter"));
  CHECK(proof.text.find(
            "launched again, it races on input[15] of rank 7: the read ('pws') by rank 7, block 0 of one launch "
            "and the write ('rre') by rank 7, block 0 of a later one are not ordered") != std::string::npos);
  CHECK(proof.text.find("the port may still read its source: a flush of the channel behind the put") !=
        std::string::npos);
  CHECK(proof.text.find("reads input[15] of rank 7 ('pws') only now") != std::string::npos);
}

TEST_CASE("switches that end with relaxed signals are proven, with a warning") {
  const Proof proof = prove(read("single_node/allreduce_nvls_zero_copy"));
  CHECK(proof.result.warnings == 64);
  CHECK(proof.text.find("only a relaxed signal tells rank 0 that output[8] of rank 0 is written") != std::string::npos);
}

TEST_CASE("proven plans run right") {
  for (const std::string &name : allPlans()) {
    if (faulty.contains(name))
      continue;
    const ir::Program program = read(name);
    ir::DiagnosticEngine diags;
    passes::SimulateOptions options;
    options.schedules = program.ranks.size() > 3 ? 4 : 30;
    if (program.reuseResources || name == "unit/pipeline_test") {
      // The least multiple of what the chunks need that is no smaller than any plan's least message.
      const std::uint64_t step = 16 * std::max(program.ranks[0].inputChunks, program.ranks[0].outputChunks);
      options.sizes = {(1024 + step - 1) / step * step};
    }
    const bool ok = passes::simulate(program, diags, options).ok;
    CAPTURE(name, diags.render(false));
    CHECK(ok);
  }
}

TEST_CASE("a synchronisation dropped from a plan is missed, or runs right without") {
  // Upstream's nops at the start of a block, between signals and waits, and behind the last wait order nothing.
  std::size_t objected = 0, redundant = 0;
  for (const std::string &name :
       {"single_node/allgather", "single_node/allgather_tbg", "single_node/allgather_pkt_rppkt",
        "single_node/allreduce_naivy", "multi_node/allgather", "single_node/alltoall_alltoall"}) {
    const ir::Program program = read(name);
    const ir::ThreadBlock &block = program.ranks[0].blocks[0];
    for (std::uint32_t o = 0; o < block.ops.size(); ++o) {
      const ir::OpKind kind = block.ops[o].kind;
      if (!ir::isBlockSync(kind) && !ir::isSignal(kind) && !ir::isWait(kind))
        continue;
      ir::Program without = program;
      without.ranks[0].blocks[0].ops.erase(without.ranks[0].blocks[0].ops.begin() + o);
      if (kind == ir::OpKind::Barrier) // the checker of structure sees a block missing; drop it on all of the rank
        continue;
      if (!prove(without).result.proven) {
        ++objected;
        continue;
      }
      ++redundant;
      CAPTURE(name, o);
      CHECK(kind == ir::OpKind::Nop);
      ir::DiagnosticEngine diags;
      CHECK(passes::simulate(without, diags, {.schedules = 20}).ok);
    }
  }
  CHECK(objected >= 25);
  CHECK(redundant >= 10);
}
