#include "backend-json/compare_plans.h"
#include "ir/internal_error.h"
#include "programs.h"

#include <nlohmann/json.hpp>

using namespace plans;

TEST_CASE("a plan has one operation a line") {
  Program program = nops(2);
  program.ranks.resize(1);
  program.ranks[0].semaphores = {{1}};
  CHECK(write(program) == R"({
  "name": "nops",
  "collective": "test",
  "protocol": "Simple",
  "inplace": false,
  "reuse_resources": false,
  "gpus": [
    {
      "id": 0,
      "input_chunks": 0,
      "output_chunks": 0,
      "scratch_chunks": 0,
      "threadblocks": [
        {
          "id": 0,
          "ops": [
            {"name": "nop"},
            {"name": "nop"}
          ],
          "channels": [],
          "remote_buffer_refs": []
        }
      ],
      "channels": [],
      "remote_buffers": [],
      "semaphores": [
        {"init_value": 1}
      ]
    }
  ],
  "num_threads_per_block": 1024,
  "use_double_scratch_buffer": false,
  "buffer_alignment": 16,
  "min_message_size": 0,
  "max_message_size": 18446744073709551615
}
)");
}

TEST_CASE("each operation prints its own fields, with indices into the block's tables") {
  const std::string text = write(everyOperation());
  const char *lines[] = {
      R"({"name": "barrier", "barrier_id": 0, "num_threadblocks": 2},)",
      R"({"name": "sem_acquire", "semaphore_ids": [0, 1]},)",
      R"({"name": "signal", "channel_ids": [0, 1], "channel_type": "memory"},)",
      R"({"name": "copy", "src_buff": [{"type": "i", "index": 0, "size": 1}], "dst_buff": [{"type": "o", "index": 1, "size": 1}], "tbg_info": {"tb_id": 1, "tbg_size": 4}},)",
      R"({"name": "re", "src_buff": [{"type": "i", "index": 0, "size": 1}, {"type": "i", "index": 1, "size": 1}], "dst_buff": [{"type": "o", "index": 0, "size": 1}], "reduce_op": "min"},)",
      R"({"name": "res", "src_buff": [{"type": "i", "index": 0, "size": 1}, {"type": "i", "index": 1, "size": 1}], "dst_buff": [{"type": "o", "index": 0, "size": 1}, {"buffer_id": 1, "index": 0, "size": 1}, {"buffer_id": 2, "index": 0, "size": 1}], "channel_type": "memory", "reduce_op": "sum"},)",
      R"({"name": "glre", "buffer_type": "s", "buffer_offset": 2, "size": 2, "dst_chunk": {"rank": 0, "type": "o", "index": 0, "size": 2}, "channel_ids": [1], "channel_type": "switch", "reduce_op": "sum"},)",
      R"({"name": "gstore", "src_buff": [{"rank": 0, "type": "i", "index": 1, "size": 1}], "dst_buff": [{"switch_channel_id": 0, "index": 3, "size": 1}], "channel_type": "switch"},)",
      R"({"name": "glres", "src_buff": [{"switch_channel_id": 0, "index": 1, "size": 1}], "dst_buff": [{"switch_channel_id": 0, "index": 2, "size": 1}], "channel_type": "switch", "reduce_op": "sum"},)",
      R"({"name": "glres", "src_buff": [{"switch_channel_id": 0, "index": 1, "size": 1}], "dst_buff": [{"switch_channel_id": 1, "index": 2, "size": 1}], "channel_type": "switch", "reduce_op": "sum"})",
      R"({"name": "pipeline", "iter_context": {"unit_size": 1048576, "num_chunks": 2}, "ops": [)",
      R"(  {"name": "get", "src_buff": [{"buffer_id": 0, "index": 0, "size": 1}, {"buffer_id": 1, "index": 1, "size": 1}], "dst_buff": [{"type": "i", "index": 2, "size": 1}, {"type": "i", "index": 3, "size": 1}], "channel_ids": [0, 1], "channel_type": "memory"},)",
      R"({"name": "put", "src_buff": [{"type": "i", "index": 0, "size": 1}], "dst_buff": [{"buffer_id": 0, "index": 1, "size": 1}], "channel_type": "memory"},)",
      R"({"name": "put", "src_buff": [{"type": "i", "index": 0, "size": 1}, {"type": "i", "index": 1, "size": 1}], "dst_buff": [{"buffer_id": 1, "index": 0, "size": 1}, {"buffer_id": 0, "index": 1, "size": 1}], "channel_ids": [1, 0], "channel_type": "port"},)",
      R"({"name": "pwsf", "src_buff": [{"type": "i", "index": 0, "size": 1}], "dst_buff": [{"buffer_id": 0, "index": 0, "size": 1}], "channel_ids": [0], "channel_type": "port"},)",
      R"({"name": "rppkt", "src_buff": [{"type": "s", "index": 0, "size": 1}], "dst_buff": [{"buffer_id": 2, "index": 4, "size": 1}], "channel_type": "memory"})",
  };
  for (const char *line : lines)
    CHECK_THAT(text, containsText("            " + std::string(line) + "\n"));
}

TEST_CASE("lists of channels stand by type, in the order of first use") {
  const std::string text = write(everyOperation());
  CHECK_THAT(text, containsText(R"(
          "channels": [
            {"channel_type": "port", "channel_ids": [1, 0]},
            {"channel_type": "memory", "channel_ids": [2, 1]}
          ],
          "remote_buffer_refs": [
            {"access_channel_type": "port", "remote_buffer_ids": [2, 1]},
            {"access_channel_type": "memory", "remote_buffer_ids": [3, 1, 0]}
          ])"));
  CHECK_THAT(text, containsText(R"(
        {"channel_type": "port", "connected_to": [2, 1]},
        {"channel_type": "memory", "connected_to": [1, 2, 1]},
        {"channel_type": "switch", "buffer_type": "i", "rank_groups": [{"size": 3, "ranks": [0, 1, 2]}]},
        {"channel_type": "switch", "buffer_type": "s", "rank_groups": [{"size": 3, "ranks": [2, 1, 0]}]})"));
  CHECK_THAT(text, containsText(R"({"rank": 2, "type": "o", "access_channel_types": ["memory", "port"]},)"));
}

TEST_CASE("the compact form is the same value without white space") {
  const Program program = everyOperation();
  const std::string compact = write(program, {.compact = true, .nameOverride = {}});
  CHECK(compact.find_first_of("\n\t") == std::string::npos);
  CHECK(nlohmann::json::parse(compact) == nlohmann::json::parse(write(program)));
  CHECK_THAT(compact, containsText(R"({"name":"every operation","collective":"mix",)"));
}

TEST_CASE("a flush for the executor says how many channels it has where the executor looks") {
  Program program = everyOperation();
  const std::string plain = write(program), counted = write(program, {false, {}, true});
  CHECK_THAT(counted, containsText(R"({"name": "flush", "dst_buff": [{"type": "i", "index": 0, "size": 1}, )"
                                   R"({"type": "i", "index": 0, "size": 1}], "channel_ids": [0, 1], )"));
  // Nothing is read of it, and nothing differs by it.
  CHECK(write(readGood(counted)) == plain);
  CHECK(json::comparePlans(readGood(counted), program).equal());
}

TEST_CASE("names are always valid JSON") {
  Program program = nops(0);
  program.name = "q\" b\\ t\t \x01 ü 😀 \xff\xc0\x80 \xed\xa0\x80";
  const auto parsed = nlohmann::json::parse(write(program));
  CHECK(parsed["name"] == "q\" b\\ t\t \x01 ü 😀 \ufffd\ufffd\ufffd \ufffd\ufffd\ufffd");
  CHECK(nlohmann::json::parse(write(program, {.compact = false, .nameOverride = "other"}))["name"] == "other");
  program.name.assign(100000, 'n');
  CHECK(nlohmann::json::parse(write(program))["name"] == program.name);
}

TEST_CASE("a stream that fails is told") {
  struct Full : std::streambuf {
    std::size_t room = 1000;
    std::streamsize xsputn(const char *, std::streamsize n) override {
      const auto taken = std::min(room, static_cast<std::size_t>(n));
      room -= taken;
      return static_cast<std::streamsize>(taken);
    }
    int overflow(int) override { return traits_type::eof(); }
  } full;
  std::ostream stream(&full);
  CHECK_FALSE(json::writePlan(everyOperation(), stream));
}

TEST_CASE("a program that is not ready to be written is a fault of the compiler") {
  std::ostringstream out;
  Program program = everyOperation();
  SECTION("a data sync is left") {
    program.ranks[0].blocks[0].ops[4].sync = DataSync::Before;
  }
  SECTION("instances are left") {
    program.instances = 2;
  }
  SECTION("a channel is not in the block's table") {
    program.ranks[0].blocks[0].ids[3] = 2;
  }
  SECTION("a remote buffer is not in the block's table") {
    program.ranks[0].blocks[1].remoteBuffers.pop_back();
  }
  SECTION("a pipeline lies in another") {
    program.ranks[0].blocks[1].ops[2].kind = OpKind::Pipeline;
  }
  SECTION("a pipeline's body is too long") {
    program.ranks[0].blocks[1].ops[1].bodySize = 99;
  }
  CHECK_THROWS_AS(json::writePlan(program, out), InternalError);
}

TEST_CASE("nothing of a pipeline comes after its body") {
  Program program = everyOperation();
  program.ranks[0].blocks[1].ops[1].bodySize = 1;
  CHECK_THAT(write(program), containsText(R"("channel_ids": [0, 1], "channel_type": "memory"}
            ]},
            {"name": "put", )"));
}

TEST_CASE("a name is escaped as nlohmann escapes it, and may be longer than what is written at once") {
  Program program = nops(0);
  program.name = "\n\x1b\"\\/\x7f" + std::string(300, 'n') + "é";
  const std::string text = write(program, {.compact = true, .nameOverride = {}});
  CHECK_THAT(text, containsText(R"({"name":"\n\u001b\"\\/)"
                                "\x7f" +
                                std::string(300, 'n') + "é\",\"collective\":"));
  CHECK(json::isUtf8(program.name));
  CHECK_FALSE(json::isUtf8("\xed\xa0\x80"));
}

TEST_CASE("one operation's text") {
  const Program program = everyOperation();
  CHECK(json::planTextOf(program, {0, 0, 0}) == R"({"name": "nop"})");
  CHECK(json::planTextOf(program, {0, 1, 1}) ==
        R"({"name": "pipeline", "iter_context": {"unit_size": 1048576, "num_chunks": 2}, "ops": []})");
}
