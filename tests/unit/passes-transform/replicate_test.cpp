// Instances: what is copied, what is shifted, and what is refused.
#include "../passes/ir_text.h"

using namespace mscclc;
using namespace mscclc::passes;

namespace {

Outcome replicate(const std::string &ops, const std::string &options) {
  return runPasses(parseProgram(programText(ops, options)), "replicate-instances");
}

TEST_CASE("ids and chunks of an instance") {
  const Outcome outcome = replicate("signal memory [1, 0]\n"
                                    "put port [2] remote0[2:4] <- input[4:6]\n"
                                    "sem_acquire [3]\n"
                                    "barrier 1 blocks 1\n"
                                    "gstore switch [1] switch1[0:2] <- output[2:4]\n",
                                    "instances 3\n");
  REQUIRE(outcome.ok);
  const ir::Rank &rank = outcome.program.ranks[0];
  REQUIRE(rank.blocks.size() == 3);
  CHECK(opsOf(outcome.program, 2) == "signal memory [5, 2]\n"
                                     "put port [8] remote0[10:12] <- input[16:18]\n"
                                     "sem_acquire [11]\n"
                                     "barrier 5 blocks 1\n"
                                     "gstore switch [5] switch5[4:6] <- output[10:12]\n");
  CHECK(outcome.program.instances == 1);
  CHECK(rank.inputChunks == 24);
  CHECK(rank.scratchChunks == 24);
  CHECK(rank.memoryPeers == std::vector<std::uint32_t>(60, 1));
  CHECK(rank.semaphores.size() == 60);
  REQUIRE(rank.switchChannels.size() == 6);
  CHECK(rank.switchChannels[2].buffer == ir::BufferKind::Output);
  CHECK(rank.switchChannels[3].buffer == ir::BufferKind::Scratch);
  CHECK(rank.remoteBuffers.size() == 3);
  CHECK(rank.blocks[1].channels[1] == ir::ResourceUse{ir::ChannelType::Memory, 4});
  CHECK(rank.blocks[1].remoteBuffers[1] == ir::ResourceUse{ir::ChannelType::Memory, 1});
}

TEST_CASE("without interleaving, chunk indexes stay") {
  const Outcome outcome =
      replicate("copy output[0:1] <- input[1:2]\nsignal memory [1]\n", "instances 2\nreplication none\n");
  REQUIRE(outcome.ok);
  CHECK(opsOf(outcome.program, 1) == "copy output[0:1] <- input[1:2]\nsignal memory [3]\n");
  CHECK(outcome.program.ranks[0].inputChunks == 16);
}

TEST_CASE("the packet copy of a reduce moves with the rest") {
  // Upstream leaves it at scratch[5:6] in both instances.
  const Outcome outcome = replicate("recpkt output[0:1], scratch[5:6] <- input[0:1], scratch[1:2]", "instances 2\n");
  REQUIRE(outcome.ok);
  CHECK(opsOf(outcome.program, 0) == "recpkt output[0:1], scratch[10:11] <- input[0:1], scratch[2:3]\n");
  CHECK(opsOf(outcome.program, 1) == "recpkt output[1:2], scratch[11:12] <- input[1:2], scratch[3:4]\n");
}

TEST_CASE("a chunk that two switch operations name moves once") {
  // Upstream shifts the one chunk object of both twice: to 4 and 7 in a buffer of 4.
  const Outcome outcome = replicate("glre switch [0] input[1:2] <- switch0[1:2]\n"
                                    "gstore switch [1] switch1[1:2] <- input[1:2]\n",
                                    "instances 2\n");
  REQUIRE(outcome.ok);
  CHECK(opsOf(outcome.program, 1) == "glre switch [1] input[3:4] <- switch1[3:4]\n"
                                     "gstore switch [3] switch3[3:4] <- input[3:4]\n");
}

TEST_CASE("pieces that make instances share a chunk are refused at both places") {
  const Outcome outcome =
      runPasses(parseProgram(programText("copy scratch[0:2] <- input[0:2] @1\ncopy output[0:1] <- scratch[0:1] @2\n"
                                         "copy output[1:2] <- scratch[1:2] @2\n",
                                         "instances 2\n") +
                             "locations {\nfile0 = \"a.cpp\"\n@1 = file0:3:1\n@2 = file0:4:1\n}\n"),
                "replicate-instances");
  CHECK_FALSE(outcome.ok);
  CHECK(outcome.errors.find("a.cpp:4:1: error: with 2 instances, this operation on pieces of 1 chunk would touch on "
                            "rank 0 what another instance writes or reads: operations cut the buffer in different "
                            "pieces") != std::string::npos);
  CHECK(outcome.errors.find("a.cpp:3:1: note: the other operation, on pieces of 2 chunks") != std::string::npos);
  CHECK(outcome.program.instances == 2);
}

TEST_CASE("pieces that differ without meeting, or are only read, are not refused") {
  const std::pair<const char *, bool> rows[] = {
      {"copy scratch[0:2] <- input[0:2]\ncopy output[0:1] <- scratch[2:3]", true},
      {"copy scratch[0:2] <- input[0:2]\ncopy scratch[2:3] <- input[1:2]", true},  // input is only read
      {"copy scratch[0:3] <- input[0:3]\ncopy output[1:2] <- scratch[1:2]", true}, // each in its own third of a half
      {"copy scratch[0:2] <- input[0:2]\ncopy output[1:3] <- scratch[1:3]", false},
      {"put memory remote2[0:2] <- input[0:2]\nput memory remote2[1:2] <- input[1:2]", false},
      {"cpkt scratch[0:2] <- input[0:2]\nupkt output[0:1] <- scratch[0:1]", false},
      {"copy scratch[0:2] <- input[0:2]\nupkt output[0:1] <- scratch[0:1]", true}, // told apart by their form
  };
  for (const auto &[ops, fine] : rows) {
    INFO(ops);
    CHECK(replicate(ops, "instances 2\n").ok == fine);
    CHECK(replicate(ops, "instances 2\nreplication none\n").ok);
  }
}

TEST_CASE("in place, pieces of input and output are pieces of one buffer") {
  const char *ops = "copy output[0:2] <- scratch[0:2]\nput memory remote0[0:1] <- input[0:1]";
  CHECK(replicate(ops, "instances 2\n").ok);
  CHECK_FALSE(replicate(ops, "collective allreduce inplace\ninstances 2\n").ok);
}

TEST_CASE("expectations of a custom collective") {
  const Outcome outcome =
      replicate("copy output[1:2] <- input[2:3]",
                "collective custom \"mine\"\ninstances 2\nexpect 0.output[1] = 0.input[2] + 1.input[3]\n");
  REQUIRE(outcome.ok);
  const auto &all = outcome.program.collective.expectations;
  REQUIRE(all.size() == 2);
  CHECK(all[1].outputChunk == 3);
  CHECK(all[1].contributions == std::vector<ir::Contribution>{{0, 5}, {1, 7}});
}

TEST_CASE("more instances than ids are refused") {
  ir::Program program = parseProgram(programText("nop", "instances 4096\n"));
  program.ranks[0].inputChunks = 2'000'000;
  const Outcome outcome = runPasses(std::move(program), "replicate-instances");
  CHECK_FALSE(outcome.ok);
  CHECK(outcome.errors == "rank 0: error: 4096 instances of 2000000 input chunks are more than 2^32 - 1 "
                          "[instances-too-many]\n1 error generated.\n");
}

} // namespace
