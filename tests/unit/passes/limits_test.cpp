// What fit-executor refuses, with limit, value and block; and what targets there are.
#include "ir_text.h"

using namespace mscclc;
using namespace mscclc::passes;

namespace {

/// A rank with one block of these operations and nothing to complain about.
std::string small(const std::string &ops, const std::string &options = "", const std::string &rank = "") {
  return "mscclc.ir 1\nprogram \"t\" {\ncollective test\n" + options +
         "rank 0 {\nbuffers input 4 output 4 scratch 4\n" + rank + "block 0 {\n" + ops + "\n}\n}\n}\n";
}

std::string errors(const std::string &text, const std::string &target = "mscclpp") {
  return runPasses(parseProgram(text), "fit-executor", target).errors;
}
bool has(const std::string &text, const std::string &part) {
  return text.find(part) != text.npos;
}
std::string repeat(int n, const std::string &line) {
  std::string text;
  for (int i = 0; i < n; ++i)
    text += line + "\n";
  return text;
}

TEST_CASE("operations of a block, pipeline bodies counted") {
  const std::string loop = "pipeline unit_size 64 num_chunks 1 {\n" + repeat(62, "nop") + "}\n";
  CHECK(errors(small(loop + "nop")) == "");
  CHECK(has(errors(small(loop + "nop\nnop")),
            "rank 0, block 0, operation 64: error: block 0 of rank 0 has 65 operations, pipeline bodies counted; "
            "mscclpp-1f5f065d takes 64"));
  CHECK(errors(small(loop + "nop\nnop"), "none") == "");
}

TEST_CASE("channels and remote buffers of a block") {
  // Rank 0 of 18, with a channel and a remote buffer to each other rank.
  std::string peers, uses, table, remotes, others;
  for (int i = 0; i < 17; ++i) {
    const std::string k = std::to_string(i), sep = i ? ", " : "";
    peers += sep + std::to_string(i + 1);
    table += sep + "memory " + k;
    remotes += "remote" + k + " = " + std::to_string(i + 1) + ".input via memory\n";
    uses += "put memory remote" + k + "[0:1] <- input[0:1]\nsignal memory [" + k + "]\n";
    others += "rank " + std::to_string(i + 1) + " {\nbuffers input 4 output 4 scratch 4\nmemory_channels [0]\n}\n";
  }
  std::string text = small("channels [" + table + "]\nremotes [" + table + "]\n" + uses, "",
                           "memory_channels [" + peers + "]\n" + remotes);
  text.insert(text.size() - 2, others);
  const std::string found = errors(text);
  CHECK(has(found, "rank 0, block 0, operation 33: error: block 0 of rank 0 uses 17 memory channels; mscclpp-1f5f065d "
                   "takes 16 of a type"));
  CHECK(has(found, "rank 0, block 0, operation 32: error: block 0 of rank 0 reaches 17 remote buffers through memory "
                   "channels; mscclpp-1f5f065d takes 16"));
  CHECK(has(found, "2 errors generated"));
}

TEST_CASE("barriers and threads") {
  CHECK(errors(small("barrier 15 blocks 1")) == "");
  CHECK(has(errors(small("barrier 16 blocks 1")), "error: barrier 16 of rank 0 in block 0: mscclpp-1f5f065d takes 16 "
                                                  "barriers a rank"));
  CHECK(has(errors(small("nop", "threads_per_block 1025\n")),
            "program 't': error: 1025 threads in a block; mscclpp-1f5f065d takes 1024"));
}

TEST_CASE("bytes behind chunks, at the maximum message size") {
  auto sized = [](std::uint64_t bytes, const char *ops, const char *more = "") {
    return errors(small(ops, more + ("max_message_size " + std::to_string(bytes) + "\n")));
  };
  constexpr std::uint64_t gib = std::uint64_t{1} << 30;
  CHECK(sized(4 * gib, "copy output[3:4] <- input[3:4]") == "");
  CHECK(has(sized(8 * gib, "copy output[3:4] <- input[3:4]"),
            "error: copy in block 0 of rank 0 reaches byte 6442450944 at the maximum message size of 8589934592 bytes; "
            "mscclpp-1f5f065d holds offsets and sizes in 32 bits"));
  CHECK(sized(8 * gib, "copy output[0:1] <- input[0:1]") == "");
  CHECK(has(sized(4 * gib, "upkt output[0:1] <- scratch[2:3]"), "reaches byte 4294967296 at"));
  // Undeclared, nothing can be said.
  CHECK(errors(small("copy output[3:4] <- input[3:4]")) == "");
}

TEST_CASE("iterations and units of a pipeline") {
  auto loop = [](const char *unit, const char *options) {
    return errors(small(std::string("pipeline unit_size ") + unit + " num_chunks 1 {\nnop\n}", options));
  };
  CHECK(has(loop("16", "max_message_size 8388608\n"),
            "error: 131072 iterations of a pipeline in block 0 of rank 0 at the maximum message size of 8388608 bytes; "
            "mscclpp-1f5f065d counts 65535"));
  CHECK(loop("64", "max_message_size 8388608\n") == "");
  CHECK(has(loop("4294967296", ""), "error: a pipeline unit of 4294967296 bytes in block 0 of rank 0; "
                                    "mscclpp-1f5f065d holds it in 32 bits"));
}

TEST_CASE("chunks of scratch that resources reuse") {
  // Four chunks of 64 MiB: 16 MiB each, or 8 MiB with double scratch; the message has four chunks.
  auto sized = [](std::uint64_t bytes, const std::string &ops, const std::string &more = "reuse_resources on\n") {
    return errors(small(ops, more + "max_message_size " + std::to_string(bytes) + "\n"));
  };
  constexpr std::uint64_t mib = 1 << 20;
  const std::string copy = "copy scratch[1:2] <- input[0:1]";
  CHECK(sized(64 * mib, copy) == "");
  CHECK(has(sized(65 * mib, copy),
            "rank 0, block 0, operation 0: error: copy in block 0 of rank 0 moves 17039360 bytes "
            "at a time through scratch at the maximum message size of 68157440 bytes; with "
            "reuse_resources mscclpp-1f5f065d has 16777216 bytes for each of 4 chunks of it: "
            "messages of up to 67108864 bytes fit"));
  CHECK(sized(65 * mib, copy, "") == "");
  CHECK(sized(65 * mib, "copy output[1:2] <- input[0:1]") == "");
  const char *both = "reuse_resources on\ndouble_scratch on\n";
  CHECK(sized(32 * mib, copy, both) == "");
  CHECK(has(sized(33 * mib, copy, both), "messages of up to 33554432 bytes fit"));
  // In a pipeline a unit has to fit.
  const auto loop = [&](std::uint64_t unit) {
    return "pipeline unit_size " + std::to_string(unit) + " num_chunks 1 {\n" + copy + "\n}";
  };
  CHECK(sized(1024 * mib, loop(16 * mib)) == "");
  CHECK(has(sized(1024 * mib, loop(17 * mib)), "moves 17825792 bytes at a time through scratch at the maximum message "
                                               "size of 1073741824 bytes; with reuse_resources mscclpp-1f5f065d has "
                                               "16777216 bytes for each of 4 chunks of it: units of up to 16777216"));
}

TEST_CASE("targets by name") {
  CHECK(findTarget("none")->executor == nullptr);
  CHECK(findTarget("mscclpp")->name() == "mscclpp-1f5f065d");
  CHECK(findTarget("mscclpp-0.9")->name() == "mscclpp-0.9");
  CHECK_FALSE(findTarget("mscclpp-0.1"));
  CHECK_FALSE(findTarget("0.9"));
  CHECK(targetNames() == "mscclpp, mscclpp-1f5f065d, mscclpp-0.9, none");
}

} // namespace
