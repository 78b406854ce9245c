// Each structural fault: its kind, text and place. Faulty programs are text where text can say the fault.
#include "catch.h"
#include "ir/structure.h"
#include "ir/text.h"
#include "random_program.h"

using namespace mscclc;
using namespace mscclc::ir;

namespace {

std::string listed(const DiagnosticEngine &diagnostics) {
  std::string out;
  for (const Diagnostic &d : diagnostics.all())
    out += (d.place.line != 0 ? std::to_string(d.place.line) : d.place.file) + ' ' + std::string(d.id) + ": " +
           d.message + '\n';
  return out;
}

std::string faultsOfText(const std::string &text) {
  DiagnosticEngine diagnostics;
  const bool good = parse(text, "x.ir", diagnostics).has_value();
  CHECK(good == !diagnostics.hasErrors());
  return listed(diagnostics);
}

/// Faults of a program of two ranks whose rank 0 holds `statements` on line 4 and on, in a block that may use all.
std::string faults(const std::string &statements) {
  return faultsOfText("mscclc.ir 1\nprogram \"p\" { // 2\n"
                      "rank 0 {\nbuffers input 4 output 4 scratch 4\nmemory_channels [1]\nport_channels [1, 2]\n"
                      "semaphores [0]\nswitch0 = scratch of [0, 1]\nremote0 = 1.scratch via memory via port\n"
                      "remote1 = 1.input via memory via port\nremote2 = 2.input via port\nblock 0 {\n"
                      "channels [memory 0, port 0, port 1, switch 0]\n"
                      "remotes [memory 0, memory 1, port 0, port 1, port 2] // 14\n" +
                      statements +
                      "}\n}\nrank 1 {\nbuffers input 4 output 4 scratch 3\nswitch0 = scratch of [0, 1]\n}\n"
                      "rank 2 {\nbuffers input 4 output 4 scratch 4\n}\n}\n");
}

/// Faults of a rank 0 of two with `statements` on line 4 and on.
std::string rankFaults(const std::string &statements) {
  return faultsOfText("mscclc.ir 1\nprogram \"p\" {\nrank 0 {\n" + statements + "}\nrank 1 {\n}\n}\n");
}

std::string faultsOf(const Program &program) {
  DiagnosticEngine diagnostics;
  diagnostics.setSources(&program.sources);
  const bool good = checkStructure(program, diagnostics);
  CHECK(good == !diagnostics.hasErrors());
  return listed(diagnostics);
}

/// A program of one rank and one block.
Program tiny() {
  Program program;
  program.name = "tiny";
  program.ranks.resize(1);
  program.ranks[0].inputChunks = program.ranks[0].outputChunks = 4;
  program.ranks[0].blocks.resize(1);
  return program;
}

constexpr Chunk in0{ChunkSpace::Input, 0, 1, 0}, out0{ChunkSpace::Output, 0, 1, 0};
Op opOf(OpKind kind) {
  Op op;
  op.kind = kind;
  return op;
}

} // namespace

TEST_CASE("whole program: options, in-place sizes, expectations") {
  CHECK(faultsOfText("mscclc.ir 1\nprogram \"\" {\ninstances 0\nthreads_per_block 0\nbuffer_alignment 17\n"
                     "collective test chunk_factor 0\nmin_message_size 9\nmax_message_size 8\n}\n") ==
        "2 no_ranks: the program has no ranks\n2 name_empty: the program's name is empty\n"
        "2 option_zero: chunk_factor must be at least 1\n2 option_zero: instances must be at least 1\n"
        "2 option_zero: threads_per_block must be at least 1\n"
        "2 alignment_not_power: the buffer alignment of 17 bytes is not a power of two\n"
        "2 message_sizes: min_message_size 9 is larger than max_message_size 8\n");
  CHECK(faultsOfText("mscclc.ir 1\nprogram \"p\" {\ninstances 4097\nrank 0 {\n}\n}\n") ==
        "2 many_instances: the program has 4097 instances: at most 4096 are possible\n");
  const auto chunks = [](const char *collective, const char *first, const char *second) {
    return faultsOfText("mscclc.ir 1\nprogram \"p\" {\ncollective " + std::string(collective) + "\nrank 0 {\nbuffers " +
                        first + "\n}\nrank 1 {\nbuffers " + second + "\n}\n}\n");
  };
  CHECK(chunks("allgather inplace", "input 2 output 4", "input 2 output 3") ==
        "7 chunks_of_collective: 2 input and 3 output chunks are not those of allgather over 2 ranks: every input has "
        "its place in the output\n");
  CHECK(chunks("reducescatter", "input 4294967295 output 4294967295", "input 2 output 1") ==
        "4 chunks_of_collective: 4294967295 input and 4294967295 output chunks are not those of reducescatter over 2 "
        "ranks: every output has its place in the input\n");
  CHECK(chunks("allreduce", "input 2147483647 output 4", "input 4 output 4") ==
        "4 chunks_of_collective: 2147483647 input and 4 output chunks are not those of allreduce over 2 ranks: both "
        "are one multiple of the number of ranks\n");
  CHECK(chunks("alltoall", "input 0 output 0", "input 0 output 0") ==
        "4 chunks_of_collective: 0 input and 0 output chunks are not those of alltoall over 2 ranks: both are at least "
        "1\n");
  CHECK(chunks("sendrecv", "input 1 output 1", "input 2 output 2") ==
        "7 chunks_of_collective: 2 input and 2 output chunks are not those of sendrecv over 2 ranks: they differ from "
        "rank 0's\n");
  CHECK(chunks("test", "input 1 output 0", "output 7") == "");
  CHECK(chunks("broadcast root 2", "input 1 output 1", "input 1 output 1") ==
        "2 root_out_of_range: the root 2 of broadcast does not exist: there are 2 ranks\n");
  CHECK(chunks("alltoallv packed inplace", "input 2 output 2", "input 2 output 2") ==
        "2 rows_in_place: alltoallv cannot be in place: a slot of the input lies where one of another rank arrives\n");
  CHECK(chunks("dispatch experts 0 expert_major", "input 2 output 2", "input 2 output 2") ==
        "2 experts_out_of_range: each rank has 0 experts: it must be at least 1, and those of all 2 ranks at most "
        "4096\n");
  CHECK(chunks("combine experts 2049 rank_major", "input 2 output 2", "input 2 output 2") ==
        "2 experts_out_of_range: each rank has 2049 experts: it must be at least 1, and those of all 2 ranks at most "
        "4096\n");
  CHECK(chunks("combine experts 2048 rank_major", "input 2 output 2", "input 2 output 2") == "");
  CHECK(chunks("combine experts 2 rank_major\nready_rows 7", "input 2 output 2", "input 2 output 2") == "");
  CHECK(chunks("alltoallv padded\nready_rows 7", "input 2 output 2", "input 2 output 2") ==
        "2 ready_without_experts: only rows of experts are handed over by blocks (ready_rows), and alltoallv has "
        "none\n");
  CHECK(chunks("dispatch experts 1 rank_major\nonce_per_rank on", "input 2 output 2", "input 2 output 2") == "");
  CHECK(chunks("combine experts 1 rank_major\nonce_per_rank automatic", "input 2 output 2", "input 2 output 2") ==
        "2 once_per_rank_alone: once_per_rank is for a dispatch, and the collective is combine\n");
  CHECK(chunks("custom \"alltoallv\"", "input 1", "input 2") == ""); // no plan has rows
  CHECK(chunks("custom \"broadcast\"", "input 1", "input 1") == "");
  CHECK(chunks("custom \"\"", "input 1", "input 1") == "2 name_empty: the collective's name is empty\n");
  CHECK(chunks("custom \"allreduce\"", "input 1", "input 1") ==
        "2 custom_name_taken: a custom collective cannot be named 'allreduce', as one of the known ones is\n");
  const std::string expectations = "expect 0.output[0] = 1.input[1]\nexpect 2.output[0] = 0.input[4]\nrank 0 {\n"
                                   "buffers input 4 output 1\n}\nrank 1 {\nbuffers input 2 output 1\n}\n}\n";
  CHECK(faultsOfText("mscclc.ir 1\nprogram \"p\" {\ncollective custom\n" + expectations) ==
        "2 expectation_out_of_range: 2.output[0] does not exist\n"
        "2 expectation_out_of_range: 0.input[4] does not exist\n");
  CHECK(faultsOfText("mscclc.ir 1\nprogram \"p\" {\ncollective custom\nexpect 0.output[0] = 0.input[0] + 0.input[0]\n"
                     "expect 0.output[0] = 0.input[0]\nrank 0 {\nbuffers input 1 output 1\n}\n}\n") ==
        "2 contribution_repeats: 0.input[0] is contributed twice\n"
        "2 expectation_repeats: the result of 0.output[0] is stated twice\n");
  CHECK(faultsOfText("mscclc.ir 1\nprogram \"p\" {\ncollective test\nexpect 0.output[0] = nothing\nrank 0 {\n"
                     "buffers output 1\n}\n}\n") ==
        "2 expectation_not_custom: only a custom collective states what its output holds, not test\n");
}

TEST_CASE("rank: peers, switch groups, remote buffers") {
  CHECK(rankFaults("memory_channels [1, 2]\nport_channels [0]\n") ==
        "3 peer_out_of_range: memory channel 1 leads to rank 2: there are 2 ranks\n"
        "3 peer_is_self: port channel 0 leads to its own rank 0\n");
  CHECK(rankFaults("switch0 = input of [0, 1, 1]\nswitch1 = input of [1]\nswitch2 = input of [0, 2]\n") ==
        "3 switch_group_repeats: switch channel 0 holds rank 1 twice\n"
        "3 switch_group_without_rank: switch channel 1 does not hold its own rank 0\n"
        "3 switch_group_rank: switch channel 2 holds rank 2: there are 2 ranks\n");
  CHECK(rankFaults("remote0 = 0.input\nremote1 = 2.input\nremote2 = 1.output\nremote3 = 1.output\n") ==
        "3 remote_buffer_is_local: remote buffer 0 lies on its own rank 0\n"
        "3 remote_buffer_rank: remote buffer 1 lies on rank 2: there are 2 ranks\n"
        "3 remote_buffer_repeats: remote buffer 3 is rank 1's output, which an earlier one is already\n");
}

TEST_CASE("switch groups over ranks: members, order, buffer, and who sets them up when") {
  const auto groups = [](std::initializer_list<const char *> ofRanks) {
    std::string text = "mscclc.ir 1\nprogram \"p\" {\n";
    std::uint32_t rank = 0;
    for (const char *lines : ofRanks)
      text += "rank " + std::to_string(rank++) + " {\n" + lines + "}\n";
    return faultsOfText(text + "}\n");
  };
  CHECK(groups({"switch0 = input of [0, 1]\nswitch1 = output of [1, 0, 2]\n",
                "switch0 = input of [0, 1]\nswitch1 = scratch of [1]\nswitch2 = output of [1, 0, 2]\n",
                "switch0 = output of [1, 0, 2]\n"}) == "");
  CHECK(
      groups({"switch0 = input of [0, 1]\n", "switch0 = input of [0, 1, 2]\n", "switch0 = input of [0, 1, 2]\n"}) ==
      "3 switch_group_members: switch channel 0 of rank 0 is over ranks [0, 1], but switch channel 0 of rank 1, which "
      "it meets, is over [0, 1, 2]: all ends of a group name the same ranks in the same order\n"
      "9 switch_group_missing: switch channel 0 of rank 2, over ranks [0, 1, 2], has no end on rank 0: it is number 1 "
      "of those that rank 2 has with rank 0, which has 0 with rank 2\n");
  CHECK(
      groups({"switch0 = input of [0, 1]\n", "switch0 = input of [1, 0]\n"}) ==
      "3 switch_group_members: switch channel 0 of rank 0 is over ranks [0, 1], but switch channel 0 of rank 1, which "
      "it meets, is over [1, 0]: all ends of a group name the same ranks in the same order\n");
  CHECK(groups({"switch0 = scratch of [0, 1]\n", "switch0 = output of [0, 1]\n"}) ==
        "3 switch_group_buffer: switch channel 0 of rank 0 is over scratch buffers, but switch channel 0 of rank 1, "
        "which it meets, is over output buffers: a group has one kind of buffer\n");
  // Two groups of the same ranks, listed in different orders.
  CHECK(
      groups({"switch0 = input of [0, 1]\nswitch1 = output of [0, 1]\n",
              "switch0 = output of [0, 1]\nswitch1 = input of [0, 1]\n"}) ==
      "3 switch_group_buffer: switch channel 0 of rank 0 is over input buffers, but switch channel 0 of rank 1, which "
      "it meets, is over output buffers: a group has one kind of buffer\n"
      "3 switch_group_buffer: switch channel 1 of rank 0 is over output buffers, but switch channel 1 of rank 1, "
      "which it meets, is over input buffers: a group has one kind of buffer\n");
  CHECK(
      groups({"switch0 = input of [0, 1]\nswitch1 = input of [0, 1]\n", "switch0 = input of [0, 1]\n"}) ==
      "3 switch_group_missing: switch channel 1 of rank 0, over ranks [0, 1], has no end on rank 1: it is number 2 of "
      "those that rank 0 has with rank 1, which has 1 with rank 0\n");
  // Each pair agrees, but each rank begins with another group.
  CHECK(groups({"switch0 = input of [0, 1]\nswitch1 = input of [0, 2]\n",
                "switch0 = input of [1, 2]\nswitch1 = input of [0, 1]\n",
                "switch0 = input of [0, 2]\nswitch1 = input of [1, 2]\n"}) ==
        "3 switch_group_order: switch channel 0 of rank 0 cannot be set up: rank 1 comes to it only after its switch "
        "channel 0, which waits in turn; list groups in one order on all ranks\n");
}

TEST_CASE("rank: semaphores") {
  CHECK(rankFaults("semaphores [2147483647, 2147483648]\n") ==
        "3 semaphore_value: semaphore 1 starts at 2147483648: at most 2147483647 is possible\n");
}

TEST_CASE("rank: barriers") {
  CHECK(rankFaults("block 0 {\nbarrier 0 blocks 2\n}\nblock 1 {\nbarrier 0 blocks 2\n}\n") == "");
  CHECK(rankFaults("block 0 {\nbarrier 0 blocks 2\n}\nblock 1 {\nbarrier 0 blocks 3\nbarrier 1 blocks 2\n}\n") ==
        "8 barrier_counts_differ: barrier 0 is for 3 blocks here, but for 2 blocks in block 0\n"
        "9 barrier_block_count: barrier 1 is for 2 blocks, but the rank uses it in 1 block\n");
}

TEST_CASE("block: tables") {
  const std::string head = "memory_channels [1]\nremote0 = 1.input via memory\nblock 0 {\n";
  CHECK(rankFaults(head + "channels [memory 0, memory 0, memory 1, none 0]\n}\n") ==
        "6 table_repeats: the block's channel table names memory channel 0 twice\n"
        "6 table_out_of_range: the block's channel table names memory channel 1: the rank has 1 memory channel\n"
        "6 table_channel_type: the block's channel table holds an entry of type none\n");
  CHECK(rankFaults(head + "remotes [memory 0, memory 0, memory 1, switch 0, port 0]\n}\n") ==
        "6 table_repeats: the block's remote-buffer table names remote buffer 0 twice\n"
        "6 table_out_of_range: the block's remote-buffer table names remote buffer 1: the rank has 1 remote buffer\n"
        "6 table_channel_type: the block's remote-buffer table holds an entry of type switch\n"
        "6 remote_buffer_access: the block reaches remote buffer 0 through port channels, which the rank does not "
        "list for it\n");
}

TEST_CASE("block: pipelines") {
  CHECK(faults("pipeline unit_size 0 num_chunks 1 {\nnop\npipeline unit_size 1 num_chunks 1 {\n}\n}\n") ==
        "15 pipeline_unit_zero: a pipeline's unit size must be at least 1 byte\n"
        "17 pipeline_nested: a pipeline cannot be inside a pipeline\n");
  Program program = tiny();
  Op loop = opOf(OpKind::Pipeline);
  loop.imm = loop.count = 1;
  loop.bodySize = 1;
  program.ranks[0].blocks[0].append(loop);
  CHECK(faultsOf(program) == "rank 0, block 0, operation 0 pipeline_too_long: the pipeline's body of 1 operation ends "
                             "past the block's last operation\n");
}

TEST_CASE("operation: ranges inside the block's arrays, locations") {
  Program program = tiny();
  ThreadBlock &block = program.ranks[0].blocks[0];
  block.append(opOf(OpKind::Copy), {{in0}}, {{out0}});
  block.append(opOf(OpKind::Nop));
  block.ops[0].firstChunk = 1;
  block.ops[1].numIds = 4294967295;
  CHECK(faultsOf(program) ==
        "rank 0, block 0, operation 0 operands_outside: copy: its operands 1:3 lie outside the 2 that the block holds\n"
        "rank 0, block 0, operation 1 operands_outside: nop: its ids 0:4294967295 lie outside the 0 that the block "
        "holds\n");
  block.ops[0].firstChunk = 0;
  block.ops[1].numIds = 0;
  block.ops[0].loc = 3;
  CHECK(faultsOf(program) ==
        "rank 0, block 0, operation 0 unknown_location_id: location 3 does not exist: the program has 0 locations\n");
}

TEST_CASE("operation: a located one is shown at its source") {
  Program program = tiny();
  Op op = opOf(OpKind::Nop);
  op.loc = program.sources.addPlace(program.sources.addFile("a.cpp"), 12, 3);
  op.sync = DataSync::After;
  program.ranks[0].blocks[0].append(op);
  CHECK(faultsOf(program) == "12 field_not_allowed: nop takes no data sync\n");
}

TEST_CASE("operation: fields that do not belong to it") {
  CHECK(faults("copy output[0:1] <- input[0:1] sync after\nput memory remote0[0:1] <- input[0:1] reduce_op max\n"
               "signal memory [0] slice 0 of 2\ncopy output[0:1] <- input[0:1] slice 2 of 2\n") ==
        "15 field_not_allowed: copy takes no data sync\n16 field_not_allowed: put takes no reduce operation\n"
        "17 field_not_allowed: signal takes no slice of a thread-block group\n"
        "18 slice_out_of_range: copy: slice 2 of 2 does not exist\n");
  CHECK(faults("re output[0:1] <- input[0:1], input[1:2] first_after 1\n"
               "rre memory output[0:1] <- input[0:1], remote0[0:1] first_after 2\n"
               "repkt output[0:1] <- input[0:1], scratch[0:1], scratch[0:1] first_after 2\n") ==
        "15 field_not_allowed: re takes no place of the first source among the others\n"
        "16 first_after_range: rre: the first source cannot be combined after 2 of the others: the operation has 2 "
        "sources\n");
  Program program = tiny();
  Op op = opOf(OpKind::Nop);
  op.count = op.bodySize = 1;
  program.ranks[0].blocks[0].append(op);
  Chunk strange = in0;
  strange.id = 1;
  program.ranks[0].blocks[0].append(opOf(OpKind::Copy), {{strange}}, {{out0}});
  CHECK(faultsOf(program) == "rank 0, block 0, operation 0 field_not_allowed: nop takes no immediate or count\n"
                             "rank 0, block 0, operation 0 field_not_allowed: nop takes no body\n"
                             "rank 0, block 0, operation 1 field_not_allowed: a local chunk takes no id\n");
}

TEST_CASE("operation: channel types") {
  CHECK(
      faults("rlxsignal port [0]\nre memory output[0:1] <- input[0:1], input[1:2]\nput remote0[0:1] <- input[0:1]\n") ==
      "15 channel_type_not_allowed: rlxsignal does not run on port channels\n"
      "16 channel_type_not_allowed: re does not run on memory channels\n"
      "17 channel_type_not_allowed: put does not run on no channel\n");
}

TEST_CASE("operation: counts and spaces of operands") {
  CHECK(
      faults(
          "nop output[0:1]\ncopy output[0:1] <- input[0:1], input[1:2]\nre output[0:1] <- input[0:1]\n"
          "res memory output[0:1] <- input[0:1], input[1:2]\nput memory remote0[0:1], remote0[1:2] <- input[0:1]\n") ==
      "15 operand_count: nop takes no destination, not 1\n16 operand_count: copy takes 1 source, not 2\n"
      "17 operand_count: re takes 2 or more sources, not 1\n"
      "18 operand_count: res takes 2 or more destinations, not 1\n"
      "19 counts_differ: put needs as many sources as destinations, not 1 and 2\n");
  CHECK(faults("copy remote0[0:1] <- input[0:1]\nput memory output[0:1] <- input[0:1]\n"
               "rre memory output[0:1] <- remote0[0:1], input[0:1]\ngstore switch [0] output[0:1] <- input[0:1]\n") ==
        "15 operand_space: copy: destination 0 must be local, not remote\n"
        "16 operand_space: put: destination 0 must be remote, not output\n"
        "17 operand_space: rre: source 0 must be local, not remote\n"
        "17 operand_space: rre: source 1 must be remote, not input\n"
        "18 operand_space: gstore: destination 0 must be on a switch channel, not output\n");
}

TEST_CASE("operation: ids") {
  CHECK(faults("signal memory\nnop [0]\nsem_acquire [1]\nwait memory [1]\npws port [0] remote0[0:1], remote0[1:2] <- "
               "input[0:1], input[1:2]\nput memory [0] remote0[0:1] <- input[0:1]\n"
               "put memory remote3[0:1] <- input[0:1]\nglre switch [0] output[0:1] <- switch1[0:1]\n") ==
        "15 id_count: signal needs 1 or more channels, and names 0\n16 id_count: nop needs no channel, and names 1\n"
        "17 id_out_of_range: sem_acquire: semaphore 1 does not exist: the rank has 1 semaphore\n"
        "18 id_out_of_range: wait: memory channel 1 does not exist: the rank has 1 memory channel\n"
        "19 id_count: pws needs 2 channels, and names 1\n20 id_count: put needs no channel, and names 1\n"
        "21 id_out_of_range: put: remote buffer 3 does not exist: the rank has 3 remote buffers\n"
        "22 id_out_of_range: glre: switch channel 1 does not exist: the rank has 1 switch channel\n");
  CHECK(faults("pws port [1] remote1[0:1] <- input[0:1]\nput memory remote2[0:1] <- input[0:1]\n") ==
        "15 channel_leads_elsewhere: pws: channel 1 leads to rank 2, but remote buffer 1 lies on rank 1\n"
        "16 remote_not_in_table: put: remote buffer 2 through memory channels is not in the block's remote-buffer "
        "table\n");
  CHECK(rankFaults("buffers input 1 output 1\nmemory_channels [1]\nswitch0 = input of [0]\nswitch1 = input of [0]\n"
                   "block 0 {\nchannels [switch 0, switch 1]\nsignal memory [0]\n"
                   "gstore switch [1] switch0[0:1] <- output[0:1]\n}\n") ==
        "10 channel_not_in_table: signal: memory channel 0 is not in the block's channel table\n"
        "11 switch_channels_differ: gstore: the operand is on switch channel 0, but the operation names 1\n");
}

TEST_CASE("operation: chunks") {
  CHECK(faults("copy output[0:0] <- input[0:0]\ncopy output[3:5] <- input[0:2]\nput memory remote0[2:4] <- input[0:2]\n"
               "glre switch [0] output[0:2] <- switch0[2:4]\n") ==
        "15 chunk_empty: copy: source 0 is empty\n15 chunk_empty: copy: destination 0 is empty\n"
        "16 chunk_out_of_range: copy: output[3:5] is out of range: there are 4 chunks\n"
        "17 chunk_out_of_range: put: remote[2:4] is out of range: there are 3 chunks\n"
        "18 chunk_out_of_range: glre: switch[2:4] is out of range: there are 3 chunks\n");
  CHECK(faults("copy output[0:2] <- input[0:1]\nre output[0:1] <- input[0:1], input[0:2]\n"
               "put memory remote0[0:1], remote0[0:3] <- input[0:1], input[0:2]\n") ==
        "15 chunk_sizes_differ: copy: destination 0 has 2 chunks, but source 0 has 1 chunk\n"
        "16 chunk_sizes_differ: re: source 1 has 2 chunks, but source 0 has 1 chunk\n"
        "17 chunk_sizes_differ: put: destination 1 has 3 chunks, but source 1 has 2 chunks\n");
  CHECK(faults("cpkt output[0:1] <- input[0:1]\nppkt memory remote1[0:1] <- input[0:1]\n"
               "repkt output[0:1] <- input[0:1], input[0:1]\n") ==
        "15 packet_not_in_scratch: cpkt: destination 0 holds packets, so it must lie in scratch, not in output\n"
        "16 packet_not_in_scratch: ppkt: destination 0 holds packets, so it must lie in scratch, not in input\n"
        "17 packet_not_in_scratch: repkt: source 1 holds packets, so it must lie in scratch, not in input\n");
  CHECK(faults("ppkt memory remote0[0:1] <- input[0:1]\nppkt port [0] remote0[0:1] <- input[0:1]\n"
               "ppkt port [0] remote0[0:1] <- scratch[0:1]\n") ==
        "16 packet_not_in_scratch: ppkt: source 0 holds packets, so it must lie in scratch, not in input\n");
}

TEST_CASE("more operands than a byte counts are fine") {
  Program program = tiny();
  ThreadBlock &block = program.ranks[0].blocks[0];
  block.append(opOf(OpKind::Reduce), std::vector<Chunk>(300, in0), {{out0}});
  CHECK(faultsOf(program) == "");
}

TEST_CASE("the search ends after many faults") {
  Program program = tiny();
  for (int i = 0; i < 100000; ++i)
    program.ranks[0].blocks[0].append(opOf(OpKind::Copy));
  DiagnosticEngine diagnostics;
  CHECK_FALSE(checkStructure(program, diagnostics));
  CHECK(diagnostics.numErrors() < 200);
}

TEST_CASE("statements: where they may be") {
  const auto text = [](const std::string &options, const std::string &block) {
    return faultsOfText("mscclc.ir 1\nprogram \"p\" {\n" + options +
                        "\nrank 0 {\nbuffers input 1 output 1\nblock 0 {\n}\n" + "block 1 {\n" + block +
                        "\n}\n}\nmove {\ncopy 0.output[0:1] <- 0.input[0:1]\n" +
                        "copy 0.output[0:1] <- 0.input[0:1]\n}\n}\n");
  };
  CHECK(text("schedule auto", "") == "");
  CHECK(text("schedule manual", "") == "13 statements_manual: statements that move data are for programs of 'schedule "
                                       "auto'; this one is manual\n");
  CHECK(text("schedule auto", "nop") ==
        "9 statements_and_operations: the program has operations in thread blocks, and 2 statements that move data: "
        "write all as statements, or all in thread blocks\n");
  Program program = tiny();
  program.schedule = Schedule::Auto;
  program.ranks[0].blocks[0].append(opOf(OpKind::Nop));
  CHECK(faultsOf(program) == ""); // its statements are thread blocks already
}

TEST_CASE("statements: places, counts and fields") {
  const auto move = [](const std::string &statement) {
    return faultsOfText("mscclc.ir 1\nprogram \"p\" {\nschedule auto\nrank 0 {\nbuffers input 4 output 4 scratch 2\n}\n"
                        "rank 1 {\nbuffers input 4 output 4\n}\nmove {\n" +
                        statement + "\n}\n}\n");
  };
  CHECK(move("copy 1.output[0:4] <- 0.input[0:4] by 1 block 65535 packets on via port") == "");
  CHECK(move("reduce 1.output[1:2] <- 0.input[0:1], 0.scratch[1:2], 1.input[3:4] reduce_op max") == "");
  CHECK(move("copy 1.output[0:1] <- 0.input[0:1], 1.input[0:1]") == "11 operand_count: copy takes 1 source, not 2\n");
  CHECK(move("reduce 1.output[0:1] <- 0.input[0:1]") == "11 operand_count: reduce takes 2 or more sources, not 1\n");
  CHECK(move("copy 1.output[0:1] <- 0.input[0:1] reduce_op min") ==
        "11 field_not_allowed: copy takes no reduce operation\n");
  CHECK(move("copy 1.output[0:1] <- 0.input[0:1] by 2") ==
        "11 move_by: copy: rank 2 cannot execute it: there are 2 ranks\n");
  CHECK(move("copy 0.output[0:1] <- 0.input[0:1] by 1") ==
        "11 move_by_apart: copy: rank 1 cannot execute it: it holds none of its chunks\n");
  CHECK(move("copy 1.output[0:1] <- 0.input[0:1] block 65536") ==
        "11 move_block: copy: there is no thread block 65536: a rank has at most 65536\n");
  CHECK(move("copy 1.output[0:1], 2.output[0:1] <- 3.input[0:1]") ==
        "11 move_rank: copy: source 0 lies on rank 3: there are 2 ranks\n"
        "11 move_rank: copy: destination 1 lies on rank 2: there are 2 ranks\n");
  CHECK(move("copy 1.scratch[0:1] <- 0.input[2:5]") ==
        "11 chunk_out_of_range: copy: 0.input[2:5] is out of range: there are 4 chunks\n"
        "11 chunk_out_of_range: copy: 1.scratch[0:1] is out of range: there are 0 chunks\n");
  CHECK(move("copy 1.output[0:0] <- 0.input[1:1]") == "11 chunk_empty: copy: source 0 is empty\n"
                                                      "11 chunk_empty: copy: destination 0 is empty\n");
  CHECK(move("reduce 1.output[0:3] <- 0.input[0:2], 0.input[2:3]") ==
        "11 chunk_sizes_differ: reduce: source 1 has 1 chunk, but source 0 has 2 chunks\n"
        "11 chunk_sizes_differ: reduce: destination 0 has 3 chunks, but source 0 has 2 chunks\n");
}

TEST_CASE("statements: ranges inside the program's places, locations") {
  Program program = tiny();
  program.schedule = Schedule::Auto;
  const RankChunk in{0, BufferKind::Input, 0, 1}, out{0, BufferKind::Output, 0, 1};
  Movement &movement = program.movement;
  Move move;
  movement.append(move, {{in}}, {{out}});
  movement.append(move, {{in}}, {});
  movement.append(move, {{in}}, {{out}});
  movement.statements[0].loc = 3;
  movement.statements[2].firstPlace = 4294967295;
  CHECK(
      faultsOf(program) ==
      "statement 0 unknown_location_id: location 3 does not exist: the program has 0 locations\n"
      "statement 1 operand_count: copy takes 1 or more destinations, not 0\n"
      "statement 2 places_outside: copy: its places 4294967295:4294967297 lie outside the 5 that the program holds\n");
  movement.statements[1].loc = program.sources.addPlace(program.sources.addFile("a.cpp"), 12, 3);
  movement.statements.erase(movement.statements.begin() + 2);
  movement.statements.erase(movement.statements.begin());
  CHECK(faultsOf(program) == "12 operand_count: copy takes 1 or more destinations, not 0\n");
}
