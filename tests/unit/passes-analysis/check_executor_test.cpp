// Tests what the executor accepts but runs wrongly. Each case is refused or gets a warning, whose text names a
// solution.
#include "../passes/ir_text.h"

using namespace mscclc::passes;

namespace {

struct Row {
  const char *ops, *options, *says;
};

const Row rows[] = {
    {"re input[0:1] <- input[0:1], input[1:2] reduce_op max", "",
     "error: mscclpp-0.9 always sums, so 'max' would be wrong; a baked kernel (--emit-cuda "
     "--target=none) does "
     "it"},
    {"glre switch [0] output[0:1] <- switch0[0:1]", "",
     "error: mscclpp-0.9 does not know 'glre'; a baked kernel (--emit-cuda --target=none) does it"},
    {"gstore switch [0] switch0[0:1] <- output[0:1]", "", "error: mscclpp-0.9 does not know 'gstore'"},
    {"get memory [0] output[0:1] <- remote0[1:2]", "",
     "error: mscclpp-0.9 swaps the offsets of a 'get': source input[1] and destination output[0] have to be at one "
     "place in their buffers; a baked kernel (--emit-cuda --target=none) does it right"},
    {"get memory [0] scratch[1:2] <- remote0[1:2]", "reuse_resources on\n", "swaps the offsets of a 'get'"},
    {"put memory remote2[0:1] <- input[0:1]", "double_scratch on\nmin_message_size 16\n",
     "error: mscclpp-0.9 does not switch halves of double scratch for 'put', so every second launch would be wrong; a "
     "baked kernel (--emit-cuda --target=none) does it right"},
    {"gstore switch [1] switch1[0:1] <- output[0:1]", "double_scratch on\nmin_message_size 16\n",
     "halves of double scratch for 'gstore'"},
    {"glres switch [1] switch1[0:1] <- switch1[0:1]", "double_scratch on\nmin_message_size 16\n",
     "halves of double scratch for 'glres'"},
    {"put port [0] remote0[0:1] <- scratch[0:1]", "double_scratch on\nmin_message_size 16\n",
     "halves of double scratch for 'put'"},
    {"pws port [0] remote0[0:1] <- scratch[0:1]", "double_scratch on\nmin_message_size 16\n",
     "halves of double scratch for 'pws'"},
    {"pwsf port [0] remote0[0:1] <- scratch[0:1]", "double_scratch on\nmin_message_size 16\n",
     "halves of double scratch for 'pwsf'"},
    {"put memory remote0[0:1] <- input[0:1]", "reuse_resources on\n",
     "warning: with reuse_resources mscclpp-0.9 goes on using the buffers of the first launch for 'put', as they are "
     "not scratch: every launch must be given the same buffers"},
    {"put port [0] remote2[0:1] <- input[0:1]", "reuse_resources on\n",
     "warning: with reuse_resources mscclpp-0.9 goes on"},
    {"glres switch [0] switch0[0:1] <- switch0[0:1]", "reuse_resources on\n",
     "warning: with reuse_resources mscclpp-0.9 goes on"},
    {"cpkt scratch[0:1] <- input[0:1]", "",
     "error: under protocol Simple mscclpp-0.9 makes scratch half the size that packets ('cpkt') need; set protocol "
     "LL"},
    {"pipeline unit_size 64 num_chunks 1 {\ncpkt scratch[0:1] <- input[0:1]\n}", "protocol LL\n",
     "error: mscclpp-0.9 runs the packet operation 'cpkt' whole in each iteration of a pipeline; a baked kernel "
     "(--emit-cuda --target=none) does it right"},
    {"pipeline unit_size 64 num_chunks 2 {\ncopy scratch[0:1] <- input[0:1]\n}", "",
     "error: 'copy' moves 1 chunk in a pipeline over 2 chunks: mscclpp-0.9 would run past its end; a baked kernel "
     "(--emit-cuda --target=none) does it right"},
    {"res memory input[0:1], remote0[0:1] <- input[0:1], input[1:2]", "buffer_alignment 8\n",
     "error: mscclpp-0.9 moves the data of 'res' in words of 16 bytes and gets chunks that are no multiples of them "
     "wrong, as with a buffer alignment of 8; a baked kernel (--emit-cuda --target=none) does it right"},
    {"copy output[0:1] <- input[0:1]", "buffer_alignment 8\n", "the data of 'copy' in words of 16 bytes"},
    {"put memory remote0[0:1] <- input[0:1]", "buffer_alignment 4\n", "the data of 'put' in words of 16 bytes"},
    {"re input[0:1] <- input[0:1], input[1:2]", "buffer_alignment 4\n", "the data of 're' in words of 16 bytes"},
    {"ppkt memory remote2[0:1] <- input[0:1]", "protocol LL\nbuffer_alignment 4\n", "'ppkt' in words of 8 bytes"},
    {"pipeline unit_size 72 num_chunks 1 {\nres memory input[0:1], remote0[0:1] <- input[0:1], input[1:2]\n}", "",
     "as with a pipeline unit of 72"},
    {"pipeline unit_size 64 num_chunks 1 {\ncopy scratch[0:2] <- input[0:2] slice 0 of 4\n}", "",
     "error: 'copy' moves 1/4 of 2 chunks in a pipeline over 1 chunk"},
};

TEST_CASE("known faults of the executor") {
  for (const Row &row : rows) {
    const Outcome outcome = runPasses(parseProgram(programText(row.ops, row.options)), "check-executor", "mscclpp-0.9");
    INFO(row.ops << "\n" << outcome.errors);
    const std::size_t at = outcome.errors.find(row.says);
    REQUIRE(at != std::string::npos);
    const std::string line = outcome.errors.substr(outcome.errors.rfind('\n', at) + 1);
    CHECK(line.starts_with("rank 0, block 0, operation "));
    CHECK(outcome.ok == std::string(row.says).starts_with("warning"));
    CHECK(runPasses(parseProgram(programText(row.ops, row.options)), "check-executor").errors == "");
  }
}

TEST_CASE("what the executor does right") {
  const std::pair<const char *, const char *> fine[] = {
      {"re input[0:1] <- input[0:1], input[1:2]", ""},
      {"gstore switch [0] switch0[0:1] <- output[0:1]", ""},
      {"get memory [0] output[1:2] <- remote0[1:2]", ""},
      {"ppkt memory remote2[0:1] <- input[0:1]", "protocol LL\ndouble_scratch on\nmin_message_size 16\n"},
      {"ppkt port [0] remote2[0:1] <- scratch[0:1]", "protocol LL\n"},
      {"pipeline unit_size 64 num_chunks 1 {\nres memory input[0:1], remote0[0:1] <- input[0:1], input[1:2]\n}", ""},
      {"nop", "min_message_size 2147483647\n"},
      {"flush port [0]", ""},
      {"put port [0] remote0[0:1] <- input[0:1]", "buffer_alignment 1\n"},
      {"gstore switch [0] switch0[0:1] <- output[0:1]", "buffer_alignment 4\n"},
      {"ppkt memory remote2[0:1] <- input[0:1]", "protocol LL\nbuffer_alignment 8\n"},
      {"put memory remote0[0:1] <- scratch[0:1]", "double_scratch on\nmin_message_size 16\n"},
      {"rppkt port [0] remote2[0:1] <- scratch[0:1]", "protocol LL\ndouble_scratch on\nmin_message_size 16\n"},
      {"pipeline unit_size 64 num_chunks 2 {\ncopy scratch[0:2] <- input[0:2]\n}", ""},
      {"pipeline unit_size 64 num_chunks 1 {\ncopy scratch[0:4] <- input[0:4] slice 0 of 4\n}", ""},
  };
  for (const auto &[ops, options] : fine) {
    CHECK(runPasses(parseProgram(programText(ops, options)), "check-executor", "mscclpp").errors == "");
  }
}

/// The warning for every program with reuse_resources and scratch.
const std::string sharedScratch =
    "program 't': warning: with reuse_resources all plans of an executor share one scratch: a rank with no part in one "
    "plan may begin the next and write where mscclpp-1f5f065d still runs the first; let such a rank wait for the "
    "others, or give the plan an executor of its own [executor-shared-scratch]\n";

TEST_CASE("with reuse_resources, puts into the scratch of others are right") {
  const std::string text = programText("put memory remote2[0:1] <- input[0:1]", "reuse_resources on\n");
  CHECK(runPasses(parseProgram(text), "check-executor", "mscclpp").errors == sharedScratch + "1 warning generated.\n");
}

TEST_CASE("a minimum message size of 2 GiB") {
  CHECK(runPasses(parseProgram(programText("nop", "min_message_size 2147483648\n")), "check-executor", "mscclpp")
            .errors == "program 't': error: mscclpp-1f5f065d reads the minimum message size as a 32-bit integer with "
                       "sign, so 2147483648 "
                       "bytes would be another number [executor-min-message]\n1 error generated.\n");
}

TEST_CASE("a rank without scratch that reaches another's") {
  const auto put = [](const std::string &options, const std::string &scratch, const std::string &chunk) {
    return runPasses(parseProgram("mscclc.ir 1\nprogram \"t\" {\ncollective test\n" + options +
                                  "rank 0 {\nbuffers input 2 output 2 scratch " + scratch +
                                  "\nmemory_channels [1]\nremote0 = 1.scratch via memory\nblock 0 {\n"
                                  "channels [memory 0]\nremotes [memory 0]\nput memory remote0[" +
                                  chunk +
                                  "] <- input[0:1]\n}\n}\nrank 1 {\nbuffers input 2 output 2 scratch 2\n"
                                  "memory_channels [0]\n}\n}\n"),
                     "check-executor", "mscclpp")
        .errors;
  };
  const char *reuse = "reuse_resources on\n";
  CHECK(put(reuse, "0", "1:2")
            .find(sharedScratch + "rank 0, block 0, operation 0: error: rank 0 has no scratch itself, so with "
                                  "reuse_resources mscclpp-1f5f065d does not know where chunks of another rank's "
                                  "scratch lie; give rank 0 as much") == 0);
  CHECK(put(reuse, "0", "0:1").find("error: rank 0 has no scratch itself") != std::string::npos);
  CHECK(put(reuse, "2", "1:2") == sharedScratch + "1 warning generated.\n");
  CHECK(put("", "0", "1:2") == "");
}

TEST_CASE("double scratch of different sizes") {
  const auto send = [](const std::string &ops, const std::string &options = "") {
    std::string text = programText(ops, "protocol LL\ndouble_scratch on\nmin_message_size 16\n" + options);
    text.replace(text.rfind("scratch 8"), 9, "scratch 4");
    return runPasses(parseProgram(text), "check-executor", "mscclpp").errors;
  };
  const std::string put = "ppkt memory remote2[0:1] <- input[0:1]";
  CHECK(send(put) == "rank 0, block 0, operation 0: error: mscclpp-1f5f065d finds the second half of another rank's "
                     "scratch by the size of its own, but rank 0 has 8 chunks of scratch and rank 1 has 4 chunks: with "
                     "double scratch give both as many, or bake a kernel (--emit-cuda --target=none) "
                     "[executor-scratch-halves]\n1 error generated.\n");
  CHECK(send(put, "reuse_resources on\n") == sharedScratch + "1 warning generated.\n");
  CHECK(send("gstorepkt switch [1] switch1[0:1] <- scratch[0:1]").find("finds the second half") != std::string::npos);
  CHECK(send("upkt output[0:1] <- scratch[0:1]") == "");
}

TEST_CASE("a switch channel over shares that lie apart") {
  const auto store = [](const std::string &collective) {
    const std::string text = "mscclc.ir 1\nprogram \"t\" {\ncollective " + collective +
                             "\nrank 0 {\nbuffers input 1 output 2 scratch 0\nswitch0 = input of [0, 1]\nblock 0 {\n"
                             "channels [switch 0]\ngstore switch [0] switch0[0:1] <- output[1:2]\n}\n}\nrank 1 {\n"
                             "buffers input 1 output 2 scratch 0\nswitch0 = input of [0, 1]\n}\n}\n";
    return runPasses(parseProgram(text), "check-executor", "mscclpp").errors;
  };
  CHECK(store("allgather") == "");
  CHECK(store("allgather inplace")
            .find("rank 0, block 0, operation 0: error: mscclpp-1f5f065d reaches one place on "
                  "all ranks through a switch channel, but in place their inputs lie at different "
                  "ones, so 'gstore' would be wrong; make the channel over the larger buffer, or "
                  "bake a kernel (--emit-cuda --target=none)") == 0);
}

TEST_CASE("a rank without chunks") {
  const Outcome outcome = runPasses(parseProgram("mscclc.ir 1\nprogram \"t\" {\ncollective test\nrank 0 {\n"
                                                 "buffers input 1 output 0 scratch 0\n}\n}\n"),
                                    "check-executor", "mscclpp");
  CHECK(outcome.ok);
  CHECK(outcome.errors.find("program 't': warning: rank 0 has no output chunks: mscclpp-1f5f065d divides by their "
                            "number when it loads the plan") == 0);
}

} // namespace
