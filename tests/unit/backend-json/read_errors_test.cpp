#include "programs.h"

using namespace plans;

namespace {
/// A change to a good plan, and the error for it: place and text.
struct Fault {
  const char *from, *to, *message;
};

void check(const std::string &good, std::initializer_list<Fault> faults) {
  for (const Fault &fault : faults) {
    std::string messages;
    INFO(fault.from << " to " << fault.to);
    CHECK_FALSE(read(replaced(good, fault.from, fault.to), messages));
    CHECK_THAT(messages, containsText(fault.message));
  }
}

const std::string &every() {
  static const std::string text = write(everyOperation());
  return text;
}
} // namespace

TEST_CASE("wrong values name their place by line, column and path") {
  check(every(),
        {
            {R"("name": "every operation")", R"("name": 7)",
             "plan.json:2:11: $.name: error: expected a string, found a number [wrong-type]\n"},
            {R"("inplace": false)", R"("inplace": "no")", "$.inplace: error: expected true or false, found a string"},
            {R"("protocol": "LL")", R"("protocol": "LL128")",
             "$.protocol: error: expected 'Simple' or 'LL', found 'LL128'"},
            {R"("num_threads_per_block": 512)", R"("num_threads_per_block": 0)",
             "$.num_threads_per_block: error: expected a number greater than 0"},
            {R"("buffer_alignment": 32)", R"("buffer_alignment": -32)",
             "error: expected a whole number from 0 to 4294967295, found a negative number"},
            {R"("buffer_alignment": 32)", R"("buffer_alignment": 16.5)", "found a fraction"},
            {R"("buffer_alignment": 32)", R"("buffer_alignment": 4294967296)", "found a larger one"},
            {R"(18446744073709551615)", R"(18446744073709551616)",
             "$.max_message_size: error: expected a whole number from 0 to 18446744073709551615, found a larger"},
            {R"({"type": "s", "index": 0, "size": 1}], "dst_buff": [{"buffer_id": 2)",
             R"({"type": "x\u001b[31m", "index": 0, "size": 1}], "dst_buff": [{"buffer_id": 2)",
             "$.gpus[0].threadblocks[1].ops[6].src_buff[0].type: error: expected 'i', 'o' or 's', found 'x?[31m'"},
            {R"("iter_context": {)", R"("iter_context": null, "x": {)",
             "ops[1].iter_context: error: expected an object, found null"},
        });
}

TEST_CASE("fields are there once, and no others") {
  check(every(),
        {
            {R"("reuse_resources": true,)", "", "plan.json:1:1: $: error: field 'reuse_resources' is missing"},
            {R"("reuse_resources": true,)", R"("reuse_resources": true, "reuse": [{"a": [1, "b", null]}],)",
             "plan.json:6:28: $: error: unknown field 'reuse'"},
            {R"("reuse_resources": true,)", R"("reuse_resources": true, "name": "again",)",
             "$: error: field 'name' is given twice"},
            {R"({"name": "sem_release", "semaphore_ids": [1]})", R"({"name": "sem_release"})",
             "$.gpus[0].threadblocks[0].ops[3]: error: field 'semaphore_ids' is missing"},
            {R"({"name": "sem_release", "semaphore_ids": [1]})", R"({"semaphore_ids": [1]})",
             "ops[3]: error: field 'name' is missing"},
            {R"({"name": "sem_release", "semaphore_ids": [1]})", R"({"name": "sem_take", "semaphore_ids": [1]})",
             "ops[3].name: error: unknown operation 'sem_take'"},
            {R"({"name": "sem_release", "semaphore_ids": [1]})", R"({"name": "nop", "semaphore_ids": [1]})",
             "ops[3]: error: operation 'nop' has no field 'semaphore_ids'"},
            {R"("channel_type": "memory", "connected_to": [1, 2, 1])", R"("channel_type": "memory")",
             "$.gpus[0].channels[1]: error: field 'connected_to' is missing"},
            {R"("channel_type": "memory", "connected_to")",
             R"("channel_type": "memory", "buffer_type": "i", "connected_to")",
             "$.gpus[0].channels[1]: error: unknown field 'buffer_type'"},
        });
}

TEST_CASE("an operation goes through the channels that it can go through") {
  check(every(),
        {
            {R"({"name": "rlxwait", "channel_ids": [0], "channel_type": "memory"})",
             R"({"name": "rlxwait", "channel_ids": [0], "channel_type": "port"})",
             "ops[7]: error: operation 'rlxwait' does not go through port channels"},
            {R"("channel_ids": [1, 0], "channel_type": "port")", R"("channel_type": "port")",
             "ops[2]: error: operation 'put' has 'channel_ids' through port channels, and only there"},
            {R"("channel_ids": [1], "channel_type": "switch", "reduce_op")",
             R"("channel_ids": [1, 0], "channel_type": "switch", "reduce_op")",
             "ops[20]: error: operation 'glre' names one switch channel, not 2"},
            {R"("buffer_type": "s", "buffer_offset")", R"("buffer_type": "o", "buffer_offset")",
             "ops[20].buffer_type: error: the buffer type is 'o', but switch channel 1 is over 's'"},
            {R"({"name": "flush", )", R"({"name": "flush", "dst_buff": [{"type": "i", "index": 0, "size": 1}], )",
             "error: a 'flush' has as many entries in 'dst_buff' as channels, or none: not 1 and 2 channels"},
            {R"("ops": [
              {"name": "get")",
             R"("ops": [{"name": "pipeline", "iter_context": {"unit_size": 1, "num_chunks": 1}, "ops": []},
              {"name": "get")",
             "$.gpus[0].threadblocks[1].ops[1].ops[0].ops: error: a pipeline cannot be inside a pipeline"},
        });
}

TEST_CASE("a chunk is local, remote or on a switch channel") {
  check(
      every(),
      {
          {R"({"buffer_id": 2, "index": 4, "size": 1})", R"({"buffer_id": 2, "type": "s", "index": 4, "size": 1})",
           "$.gpus[0].threadblocks[1].ops[6].dst_buff[0]: error: a chunk has exactly one of 'type', 'buffer_id' "
           "and 'switch_channel_id'"},
          {R"({"buffer_id": 2, "index": 4, "size": 1})", R"({"index": 4, "size": 1})",
           "dst_buff[0]: error: a chunk has exactly one of"},
          {R"({"buffer_id": 2, "index": 4, "size": 1})", R"({"buffer_id": 2, "rank": 1, "index": 4, "size": 1})",
           "dst_buff[0]: error: only a local chunk has the field 'rank'"},
          {R"({"rank": 0, "type": "s", "index": 1)", R"({"rank": 2, "type": "s", "index": 1)",
           "ops[22].src_buff[0]: error: the chunk is of rank 2, and its operation of rank 0"},
          {R"({"name": "upkt", "src_buff": [{"type": "s", "index": 0,)",
           R"({"name": "upkt", "src_buff": [{"buffer_id": 0, "index": 0,)",
           "ops[11].src_buff[0]: error: the operation has a remote chunk, and goes through no memory or port channel"},
          {R"({"tb_id": 1, "tbg_size": 4})", R"({"tb_id": 1, "tbg_size": 0})",
           "ops[9].tbg_info.tbg_size: error: expected a number greater than 0"},
          {R"({"type": "s", "index": 0, "size": 1}], "dst_buff": [{"buffer_id": 2, "index": 4)",
           R"({"type": "s", "index": 4294967295, "size": 4294967295}], "dst_buff": [{"buffer_id": 2, "index": 4)",
           "$.gpus[0].threadblocks[1].ops[6]: error: rppkt: scratch[4294967295:8589934590] is out of range"},
      });
}

TEST_CASE("ids lie in their lists") {
  check(every(),
        {
            {R"({"buffer_id": 2, "index": 4, "size": 1})", R"({"buffer_id": 3, "index": 4, "size": 1})",
             "ops[6].dst_buff[0].buffer_id: error: remote buffer 3 is out of range: the thread block lists 3 remote "
             "buffers"},
            {R"("channel_ids": [1, 0], "channel_type": "port")", R"("channel_ids": [1, 2], "channel_type": "port")",
             "$.gpus[0].threadblocks[1].ops[2].channel_ids[1]: error: port channel 2 is out of range: the thread block "
             "lists 2 port channels"},
            {R"("channel_ids": [0, 1], "channel_type": "memory"},
              {"name": "put")",
             R"("channel_ids": [0, 9], "channel_type": "memory"},
              {"name": "put")",
             "$.gpus[0].threadblocks[1].ops[1].ops[0].channel_ids[1]: error: memory channel 9 is out of range"},
            {R"([{"switch_channel_id": 1, "index": 3)", R"([{"switch_channel_id": 2, "index": 3)",
             "ops[22].dst_buff[0].switch_channel_id: error: switch channel 2 is out of range"},
            {R"("semaphore_ids": [0, 1])", R"("semaphore_ids": [0, 2])",
             "$.gpus[0].threadblocks[0].ops[2].semaphore_ids[1]: error: semaphore 2 is out of range: the gpu lists 2 "
             "semaphores"},
            {R"({"channel_type": "memory", "channel_ids": [2, 1]})",
             R"({"channel_type": "memory", "channel_ids": [2, 3]})",
             "$.gpus[0].threadblocks[1].channels[1].channel_ids[1]: error: memory channel 3 is out of range: the gpu "
             "lists 3 memory channels"},
            {R"("remote_buffer_ids": [3, 1, 0])", R"("remote_buffer_ids": [3, 1, 4])",
             "$.gpus[0].threadblocks[1].remote_buffer_refs[1].remote_buffer_ids[2]: error: remote buffer 4 is out of "
             "range"},
            {R"({"channel_type": "memory", "channel_ids": [2, 1]})",
             R"({"channel_type": "memory", "channel_ids": [2, 1]}, {"channel_type": "memory", "channel_ids": [0]})",
             "threadblocks[1].channels[2]: error: channel type memory is listed twice"},
            {R"({"channel_type": "memory", "channel_ids": [2, 1]})",
             R"({"channel_type": "memory", "channel_ids": [2, 1]}, {"channel_type": "switch", "channel_ids": []})",
             "threadblocks[1].channels[2]: error: the entry has no ids"},
            {R"({"channel_type": "memory", "channel_ids": [2, 1]})",
             R"({"channel_type": "memory", "channel_ids": [2, 1, 2]})",
             "$.gpus[0].threadblocks[1]: error: the block's channel table names memory channel 2 twice"},
        });
}

TEST_CASE("ranks that are named exist") {
  check(every(), {
                     {R"("connected_to": [1, 2, 1])", R"("connected_to": [1, 3, 1])",
                      "$.gpus[0].channels[1].connected_to[1]: error: rank 3 is out of range: the plan has 3 gpus "
                      "[rank-out-of-range]\n"},
                     {R"({"rank": 1, "type": "i",)", R"({"rank": 4294967295, "type": "i",)",
                      "$.gpus[0].remote_buffers[2].rank: error: rank 4294967295 is out of range"},
                     {R"("access_channel_types": ["memory", "port"])", R"("access_channel_types": ["port", "port"])",
                      "remote_buffers[1].access_channel_types[1]: error: access type port is listed twice"},
                     {R"(}
  ],
  "num_threads_per_block")",
                      R"(}, {"id": 1, "input_chunks": 0, "output_chunks": 0, "scratch_chunks": 0, "threadblocks": [],
                        "channels": [], "remote_buffers": [], "semaphores": []}], "num_threads_per_block")",
                      "$.gpus[3].id: error: gpu id 1 is given twice"},
                     {R"(}
  ],
  "num_threads_per_block")",
                      R"(}, {"id": 9, "input_chunks": 0, "output_chunks": 0, "scratch_chunks": 0, "threadblocks": [],
                        "channels": [], "remote_buffers": [], "semaphores": []}], "num_threads_per_block")",
                      "$.gpus[3].id: error: gpu id 9 is out of range: there are 4 of them, and ids count from 0"},
                 });
  const std::string two = write(nops(1));
  std::string messages;
  Program none = nops(1);
  none.ranks.clear();
  CHECK_FALSE(read(write(none), messages));
  CHECK_THAT(messages, containsText("$: error: the program has no ranks"));
  CHECK(readGood(two).ranks.size() == 2);
}

TEST_CASE("a switch channel has one group, of the size it says") {
  Program program = nops(0);
  for (Rank &rank : program.ranks)
    rank.switchChannels = {{BufferKind::Input, {0, 1}}};
  program.ranks[1].switchChannels[0].ranks = {1, 0};
  check(write(program),
        {
            {R"({"size": 2, "ranks": [0, 1]})", R"({"size": 4, "ranks": [0, 1]})",
             "$.gpus[0].channels[0].rank_groups[0]: error: the size is 4, but the group has 2 ranks"},
            {R"([{"size": 2, "ranks": [0, 1]}])", "[]",
             "channels[0].rank_groups: error: a switch channel has one rank group, not 0"},
            {R"([{"size": 2, "ranks": [0, 1]}])", "[7]",
             "channels[0].rank_groups[0]: error: expected an object, found a number [wrong-type]\n1 error"},
        });
}

TEST_CASE("the numbers of chunks are those of the collective") {
  const auto plan = [](CollectiveKind kind, std::uint32_t in, std::uint32_t out) {
    Program program = nops(0);
    program.collective.kind = kind;
    program.collective.name = toString(kind);
    for (Rank &rank : program.ranks) {
      rank.inputChunks = in;
      rank.outputChunks = out;
    }
    return program;
  };
  const struct {
    CollectiveKind kind;
    std::uint32_t in, out;
    const char *message; ///< null: right
  } cases[] = {
      {CollectiveKind::AllGather, 3, 6, nullptr},
      {CollectiveKind::AllGather, 3, 5,
       "$.gpus[0]: error: 3 input and 5 output chunks are not those of allgather over 2 ranks: every input has its "
       "place "
       "in the output"},
      {CollectiveKind::ReduceScatter, 6, 3, nullptr},
      {CollectiveKind::ReduceScatter, 6, 6, "every output has its place in the input"},
      {CollectiveKind::AllReduce, 4, 4, nullptr},
      {CollectiveKind::AllReduce, 3, 3, "both are one multiple of the number of ranks"},
      {CollectiveKind::AllToAll, 4, 2, "both are one multiple of the number of ranks"},
      {CollectiveKind::SendRecv, 1, 2, "as much is received as is sent"},
      {CollectiveKind::AllReduce, 0, 0, "both are at least 1"},
      {CollectiveKind::Test, 1, 2, nullptr},
  };
  for (const auto &c : cases) {
    std::string messages;
    INFO(toString(c.kind) << " " << c.in << " " << c.out);
    CHECK(read(write(plan(c.kind, c.in, c.out)), messages).has_value() == (c.message == nullptr));
    if (c.message)
      CHECK_THAT(messages, containsText(c.message));
  }
  Program uneven = plan(CollectiveKind::SendRecv, 1, 1);
  uneven.ranks[1].inputChunks = uneven.ranks[1].outputChunks = 2;
  std::string messages;
  CHECK_FALSE(read(write(uneven), messages));
  CHECK_THAT(messages,
             containsText("$.gpus[1]: error: 2 input and 2 output chunks are not those of sendrecv over 2 ranks: "
                          "they differ from rank 0's"));
}

TEST_CASE("several errors are told in one run, but not without end") {
  std::string messages;
  const std::string two = replaced(replaced(every(), R"("inplace": false)", R"("inplace": 0)"),
                                   R"({"name": "sem_release", "semaphore_ids": [1]})", R"({"name": "sem_take"})");
  CHECK_FALSE(read(two, messages));
  CHECK_THAT(messages, containsText("$.inplace: error") && containsText("ops[3].name: error") &&
                           containsText("2 errors generated"));

  std::string many = R"({"gpus": [)";
  for (int i = 0; i < 100000; ++i)
    many += "0,";
  CHECK_FALSE(read(many + "0]}", messages));
  CHECK_THAT(messages, containsText("$.gpus[19]: error: expected an object, found a number"));
  CHECK_THAT(messages, containsText("20 errors generated"));

  Program blocks = nops(0);
  blocks.ranks[0].blocks.resize(1000);
  std::string text = write(blocks);
  for (std::size_t at = 0; (at = text.find("          \"id\": ", at)) != std::string::npos;) {
    const std::size_t number = at + 16, end = text.find(',', number);
    text.replace(number, end - number, "0");
    at = number;
  }
  CHECK_FALSE(read(text, messages));
  CHECK_THAT(messages, containsText("$.gpus[0].threadblocks[1].id: error: thread block id 0 is given twice"));
  CHECK_THAT(messages, containsText("1 error generated"));
  // Nothing is read behind it: it is no JSON.
  const std::size_t second = text.find("\"id\": 0", text.find("\"id\": 0", text.find("threadblocks")) + 1);
  CHECK_FALSE(read(text.substr(0, text.find('\n', second)) + " %", messages));
  CHECK_THAT(messages, containsText("$.gpus[0].threadblocks[1].id: error: thread block id 0 is given twice"));
  CHECK_THAT(messages, containsText("1 error generated"));
}
