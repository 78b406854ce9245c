// How fit-executor splits operations that are too wide.
#include "../passes/ir_text.h"

using namespace mscclc::passes;

namespace {

/// "PREFIX0, PREFIX1, …" with each number through `format`, for [from, to).
template <typename Format> std::string list(int from, int to, Format format) {
  std::string text;
  for (int i = from; i < to; ++i)
    text += (i == from ? "" : ", ") + format(i);
  return text;
}
std::string numbers(int from, int to) {
  return list(from, to, [](int i) { return std::to_string(i); });
}
std::string chunk(const std::string &buffer, int i) {
  return buffer + "[" + std::to_string(i % 8) + ":" + std::to_string(i % 8 + 1) + "]";
}
std::string chunks(const std::string &buffer, int from, int to) {
  return list(from, to, [&](int i) { return chunk(buffer, i); });
}

std::string fitted(const std::string &ops) {
  const Outcome outcome = runPasses(parseProgram(programText(ops)), "fit-executor", "mscclpp-0.9");
  INFO(outcome.errors);
  // The fixture's block has more channels than an executor takes; nothing else may be wrong.
  CHECK(outcome.errors.find("uses 20 memory channels") != std::string::npos);
  CHECK(outcome.errors.find("1 error generated") != std::string::npos);
  return opsOf(outcome.program);
}

TEST_CASE("lists of channels and semaphores") {
  CHECK(fitted("signal memory [" + numbers(0, 17) + "]") ==
        "signal memory [" + numbers(0, 8) + "]\nsignal memory [" + numbers(8, 16) + "]\nsignal memory [16]\n");
  CHECK(fitted("sem_acquire [" + numbers(0, 17) + "]") == "sem_acquire [" + numbers(0, 16) + "]\nsem_acquire [16]\n");
  CHECK(fitted("flush port [" + numbers(0, 8) + "]") == "flush port [" + numbers(0, 8) + "]\n");
}

TEST_CASE("fused copies to and from peers") {
  CHECK(fitted("put memory " + chunks("remote0", 0, 14) + " <- " + chunks("input", 0, 14)) ==
        "put memory " + chunks("remote0", 0, 10) + " <- " + chunks("input", 0, 10) + "\nput memory " +
            chunks("remote0", 10, 14) + " <- " + chunks("input", 10, 14) + "\n");
  // Port puts name a channel each, and there is room for fewer of those.
  CHECK(fitted("pws port [" + numbers(0, 9) + "] " + chunks("remote0", 0, 9) + " <- " + chunks("input", 0, 9)) ==
        "pws port [" + numbers(0, 8) + "] " + chunks("remote0", 0, 8) + " <- " + chunks("input", 0, 8) +
            "\npws port [8] " + chunks("remote0", 8, 9) + " <- " + chunks("input", 8, 9) + "\n");
  CHECK(fitted("rppkt memory " + chunks("remote2", 0, 11) + " <- scratch[3:4]") ==
        "rppkt memory " + chunks("remote2", 0, 10) + " <- scratch[3:4]\nrppkt memory " + chunks("remote2", 10, 11) +
            " <- scratch[3:4]\n");
}

TEST_CASE("sums go step by step into the destination") {
  CHECK(fitted("re output[0:1] <- input[0:1], " + chunks("scratch", 0, 20)) ==
        "re output[0:1] <- input[0:1], " + chunks("scratch", 0, 9) + "\nnop\nre output[0:1] <- output[0:1], " +
            chunks("scratch", 9, 18) + "\nnop\nre output[0:1] <- output[0:1], " + chunks("scratch", 18, 20) + "\n");
}

TEST_CASE("sends behind a sum follow as puts of it") {
  CHECK(
      fitted("rres memory output[0:1], " + chunks("remote0", 0, 15) + " <- input[0:1], " + chunks("remote1", 0, 15)) ==
      "rre memory output[0:1] <- input[0:1], " + chunks("remote1", 0, 9) + "\nnop\nrres memory output[0:1], " +
          chunks("remote0", 0, 9) + " <- output[0:1], " + chunks("remote1", 9, 15) + "\nnop\nput memory " +
          chunks("remote0", 9, 15) + " <- " + list(0, 6, [](int) { return chunk("output", 0); }) + "\n");
  CHECK(
      fitted("recspkt memory output[0:1], scratch[7:8], " + chunks("remote2", 0, 9) + " <- input[0:1], scratch[1:2]") ==
      "recspkt memory output[0:1], scratch[7:8], " + chunks("remote2", 0, 8) +
          " <- input[0:1], scratch[1:2]\nnop\nppkt memory " + chunks("remote2", 8, 9) + " <- output[0:1]\n");
}

TEST_CASE("no more channels than threads, each of which serves one") {
  const auto of = [](int threads, const std::string &ops) {
    const Outcome outcome =
        runPasses(parseProgram(programText(ops, "threads_per_block " + std::to_string(threads) + "\n")), "fit-executor",
                  "mscclpp");
    CHECK(outcome.errors.find("1 error generated") != std::string::npos); // the fixture's
    return opsOf(outcome.program);
  };
  CHECK(of(4, "signal memory [" + numbers(0, 7) + "]\nwait memory [" + numbers(0, 7) + "]") ==
        "signal memory [0, 1, 2, 3]\nsignal memory [4, 5, 6]\nwait memory [0, 1, 2, 3]\nwait memory [4, 5, 6]\n");
  // A put and its signal stay with one thread.
  CHECK(of(2, "put port [0, 1, 2] " + chunks("remote0", 0, 3) + " <- " + chunks("input", 0, 3) +
                  "\nsignal port [0, 1, 2]\nflush port [2]") ==
        "put port [0, 1] " + chunks("remote0", 0, 2) + " <- " + chunks("input", 0, 2) + "\nput port [2] " +
            chunk("remote0", 2) + " <- " + chunk("input", 2) +
            "\nsignal port [0, 1]\nsignal port [2]\nflush port [2]\n");
  CHECK(of(2, "rppkt port [0, 1, 2] " + chunks("remote2", 0, 3) + " <- scratch[7:8]") ==
        "rppkt port [0, 1] " + chunks("remote2", 0, 2) + " <- scratch[7:8]\nrppkt port [2] " + chunk("remote2", 2) +
            " <- scratch[7:8]\n");
  // All threads move the data of these, however few they are.
  const std::string all = "put memory " + chunks("remote0", 0, 3) + " <- " + chunks("input", 0, 3) +
                          "\nget memory [0, 1] " + chunks("output", 0, 2) + " <- " + chunks("remote0", 0, 2) + "\n";
  CHECK(of(1, all) == all);
  // Semaphores are cut like channels where those are cut, and have more room where they are not.
  CHECK(of(12, "sem_release [" + numbers(0, 14) + "]\nsignal memory [0]") ==
        "sem_release [" + numbers(0, 12) + "]\nsem_release [12, 13]\nsignal memory [0]\n");
  CHECK(of(1024, "wait memory [" + numbers(0, 9) + "]\nsem_release [" + numbers(0, 9) + "]") ==
        "wait memory [" + numbers(0, 8) + "]\nwait memory [8]\nsem_release [" + numbers(0, 8) + "]\nsem_release [8]\n");
}

TEST_CASE("what an executor gets wrong as one operation") {
  // A put finds all sources in the buffer of the first.
  CHECK(fitted("put memory " + chunks("remote0", 0, 3) + " <- input[0:1], scratch[1:2], scratch[2:3]") ==
        "put memory remote0[0:1] <- input[0:1]\nput memory " + chunks("remote0", 1, 3) + " <- " +
            chunks("scratch", 1, 3) + "\n");
  // Version 0.9 does not flush after a pwsf.
  CHECK(fitted("pwsf port [3, 4] " + chunks("remote0", 0, 2) + " <- " + chunks("input", 0, 2)) ==
        "pws port [3, 4] " + chunks("remote0", 0, 2) + " <- " + chunks("input", 0, 2) + "\nflush port [3, 4]\n");
  // Packets leave through a port by rppkt, each source by its own.
  CHECK(fitted("ppkt port [0, 1] " + chunks("remote2", 0, 2) + " <- scratch[5:6], scratch[5:6]") ==
        "rppkt port [0, 1] " + chunks("remote2", 0, 2) + " <- scratch[5:6]\n");
  CHECK(fitted("ppkt port [0, 1] " + chunks("remote2", 0, 2) + " <- scratch[5:6], scratch[6:7]") ==
        "rppkt port [0] remote2[0:1] <- scratch[5:6]\nnop\nrppkt port [1] remote2[1:2] <- scratch[6:7]\nnop\n");
}

TEST_CASE("a rank without thread blocks gets one") {
  const Outcome outcome = runPasses(parseProgram(programText("nop")), "fit-executor", "mscclpp");
  REQUIRE(outcome.program.ranks[1].blocks.size() == 1);
  CHECK(outcome.program.ranks[1].blocks[0].ops.size() == 1);
  CHECK(outcome.program.ranks[1].blocks[0].ops[0].kind == mscclc::ir::OpKind::Nop);
  CHECK(runPasses(parseProgram(programText("nop")), "fit-executor", "none").program.ranks[1].blocks.empty());
}

TEST_CASE("the body of a pipeline grows with its pieces") {
  CHECK(fitted("pipeline unit_size 64 num_chunks 1 {\nsignal memory [" + numbers(0, 9) + "]\n}\nnop") ==
        "pipeline unit_size 64 num_chunks 1 {\nsignal memory [" + numbers(0, 8) + "]\nsignal memory [8]\n}\nnop\n");
}

TEST_CASE("a sum that a later source lies in cannot be split") {
  const Outcome outcome =
      runPasses(parseProgram(programText("re output[0:1] <- input[0:1], " + chunks("scratch", 0, 9) + ", output[0:1]")),
                "fit-executor", "mscclpp");
  CHECK(outcome.errors.find("rank 0, block 0, operation 0: error: re in block 0 of rank 0 has 11 chunks on a side; "
                            "mscclpp-1f5f065d takes 10, and it cannot be split: a later source lies where the result "
                            "goes") != std::string::npos);
}

TEST_CASE("nothing is split for no target") {
  const std::string wide = "signal memory [" + numbers(0, 20) + "]\n";
  CHECK(opsAfter("fit-executor", wide) == wide);
}

} // namespace
