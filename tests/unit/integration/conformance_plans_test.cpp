// The Python DSL's plans, proven and run: each passes, or has a fault that is named here.
#include "catch.h"

#include "backend-json/read_plan.h"
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
Proof prove(const ir::Program &program, const ir::AllowedNames &allowed = {}) {
  ir::DiagnosticEngine diags;
  diags.allow(allowed);
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
    // `pws` without a flush: its user may overwrite what the port may still be sending; the next launch reduces into it.
    {"multi_node/reducescatter", "input_still_sent"},
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
    // Packet chunk 1 lies over plain chunks 2 and 3, and at other sizes over others.
    {"unit/reduce_packet_reduce_packets_fuse_test", "size_change_packets"},
    {"unit/reduce_packet_reduce_packets_test", "size_change_packets"},
    {"unit/reduce_send_packet_test", "size_change_packets"},
    // They signal channels 0 and 1 and wait on channels 2 and 3.
    {"unit/signal_wait_relaxed_signal_wait_fuse_test", "signal_without_wait"},
    {"unit/signal_wait_signal_wait_fuse_test", "signal_without_wait"},
};

/// Plans that are proven only if something is allowed.
const std::map<std::string, ir::AllowedNames> allowed{
    // The port may still read its input when the launch ends.
    {"multi_node/send_recv", {"unflushed-source"}},
    // They store through the switch, and tell so by relaxed signals.
    {"single_node/allgather_nvls_zero_copy", {"relaxed-data"}},
    {"single_node/allgather_nvls_zero_copy.ranks=4,instances=2,threads=512", {"relaxed-data"}},
    {"single_node/allreduce_nvls_zero_copy", {"relaxed-data"}},
    // A rank sends to a peer of which it knows that it has got its data, not that it has done with it: at another size
    // that lies elsewhere.
    {"default_algos/allgather_multi_nodes", {"size-change"}},
    {"default_algos/allgather_multi_nodes.ranks=6,gpusPerNode=2,inPlace=1,instances=2", {"size-change"}},
    {"default_algos/allgather_multi_nodes.ranks=8,gpusPerNode=4,threads=512", {"size-change"}},
    {"multi_node/allgather_pkt", {"size-change"}},
    {"multi_node/allgather_pkt.gpusPerNode=3", {"size-change"}},
    {"multi_node/reducescatter_pkt", {"size-change"}},
    {"multi_node/reducescatter_pkt.gpusPerNode=4", {"size-change"}},
    {"single_node/allreduce_naivy", {"size-change"}},
};

} // namespace

TEST_CASE("every plan is proven, or its fault is known") {
  const auto names = allPlans();
  CHECK(names.size() >= 75);
  for (const std::string &name : names) {
    const auto needed = allowed.find(name);
    const Proof proof = prove(read(name), needed == allowed.end() ? ir::AllowedNames() : needed->second);
    CAPTURE(name, proof.text);
    if (needed != allowed.end()) // and nothing else is found
      CHECK(prove(read(name)).result.errors == proof.result.warnings);
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

TEST_CASE("each fault is told with both places, what is missing, and how it comes about") {
  const std::map<std::string, std::vector<std::string>> told{
      {"default_algos/allreduce_multi_nodes",
       {"$.gpus[0].threadblocks[0].ops[1]: error: packet scratch[0] of rank 0 lies over plain scratch[0], which is "
        "read as "
        "plain data",
        "and 15 like it on other ranks"}},
      {"default_algos/allreduce_multi_nodes.ranks=6,gpusPerNode=2,groupSize=4,threads=768",
       {"packet scratch[0] of rank 0 lies over plain scratch[0], which is read as plain data"}},
      {"default_algos/allreduce_multi_nodes.ranks=8,gpusPerNode=4,groupSize=2",
       {"packet scratch[0] of rank 0 lies over plain scratch[0], which is read as plain data"}},
      {"default_algos/reducescatter_multi_nodes",
       {"$.gpus[7].threadblocks[7].ops[1]: error: race on output[0] of rank 7: the write ('recpkt') by rank 7, block 7 "
        "and "
        "the write ('upkt') by rank 7, block 7 are not ordered",
        "$.gpus[7].threadblocks[7].ops[0]: note: the other access: write ('recpkt') by rank 7, block 7",
        "threads of a block do not wait for each other: a nop between the two operations (",
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
        "the port may still read its source: a flush of the channel behind the put",
        "rank 7, block 0, launched again, runs up to its operation 5 ('rre')",
        "rank 7, block 0 writes input[15] of rank 7 ('rre')",
        "rank 7, block 0 reads input[15] of rank 7 ('pws') only now",
        "error: rank 0 may end its launch while the port still reads input[8] of rank 0"}},
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
        "and 1 like it on other ranks"}},
      {"unit/reduce_copy_packet_test", {"rank 0, block 0 waits for packet scratch[0] of rank 0, which never comes"}},
      {"unit/reduce_copy_send_packet_test",
       {"rank 0, block 0 waits for packet scratch[0] of rank 0, which never comes"}},
      {"unit/reduce_packet_reduce_packets_fuse_test",
       {"$.gpus[0].threadblocks[0].ops[0]: error: packet scratch[1] of rank 0 lies over plain scratch[3]"}},
      {"unit/reduce_packet_reduce_packets_test", {"packet scratch[1] of rank 0 lies over plain scratch[2]"}},
      {"unit/reduce_send_packet_test", {"packet scratch[1] of rank 0 lies over plain scratch[2]", "1 like it"}},
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
    CHECK(faulty.contains(name));
    for (const std::string &line : lines) {
      CAPTURE(line);
      CHECK(proof.text.find(line) != std::string::npos);
    }
  }
  CHECK(told.size() + 1 == faulty.size()); // and allreduce_pipeline, above
}

TEST_CASE("switches that end with relaxed signals are proven if that is allowed") {
  const Proof proof = prove(read("single_node/allreduce_nvls_zero_copy"));
  CHECK(proof.result.errors == 64);
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
