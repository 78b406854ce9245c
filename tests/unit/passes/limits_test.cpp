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
            "mscclpp-1f5f065d takes 64: give some to another thread block"));
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
                   "takes 16 of a type: give some to another thread block"));
  CHECK(has(found, "rank 0, block 0, operation 32: error: block 0 of rank 0 reaches 17 remote buffers through memory "
                   "channels; mscclpp-1f5f065d takes 16: give some to another thread block"));
  CHECK(has(found, "2 errors generated"));
}

TEST_CASE("barriers and threads") {
  CHECK(errors(small("barrier 15 blocks 1")) == "");
  CHECK(has(errors(small("barrier 16 blocks 1")), "error: block 0 of rank 0 uses barrier 16; mscclpp-1f5f065d takes 16 "
                                                  "barriers a rank"));
  CHECK(has(errors(small("nop", "threads_per_block 1025\n")),
            "program 't': error: a block has 1025 threads; mscclpp-1f5f065d takes 1024"));
}

TEST_CASE("memories and semaphores of a rank's proxy") {
  // Rank 0 of `ranks` has a port to each other rank, `each` times, and reaches an input through it.
  const auto made = [](int ranks, int each, bool pairs) {
    std::string peers, remotes, others;
    for (int i = 1; i < ranks; ++i) {
      std::string back;
      for (int k = 0; k < each; ++k) {
        peers += (peers.empty() ? "" : ", ") + std::to_string(i);
        back += k ? ", 0" : "0";
      }
      remotes += "remote" + std::to_string(i - 1) + " = " + std::to_string(i) + ".input via port\n";
      others += "rank " + std::to_string(i) + " {\nbuffers input 4 output 4 scratch 4\n" +
                (pairs ? "port_channels [" + back + "]\n" : "") + "}\n";
    }
    std::string text = small("nop", "", "port_channels [" + peers + "]\n" + remotes);
    text.insert(text.size() - 2, others);
    return errors(text);
  };
  CHECK(made(510, 2, true) == ""); // 509 + 3 ids, 1,018 semaphores
  CHECK(has(made(511, 2, true),
            "rank 0: error: rank 0 takes 513 memory ids: 510 of other ranks' buffers that it reaches "
            "through ports, and 3 of its own; mscclpp-1f5f065d has 512, and a request beyond goes to "
            "another buffer"));
  CHECK(made(257, 4, true) == "");
  for (const bool pairs : {false, true})
    CHECK(has(made(258, 4, pairs),
              "rank 0: error: rank 0 takes 1028 semaphores for port channels; mscclpp-1f5f065d has "
              "1024, and a request beyond signals another one"));
  // What one end has alone, the other end builds as well.
  std::string many;
  for (int i = 0; i < 1025; ++i)
    many += i ? ", 1" : "1";
  std::string text = small("nop", "", "port_channels [" + many + "]\n");
  text.insert(text.size() - 2, "rank 1 {\nbuffers input 4 output 4 scratch 4\n}\n");
  CHECK(has(errors(text), "rank 0 takes 1025 semaphores"));
  std::string turned =
      "mscclc.ir 1\nprogram \"t\" {\ncollective test\nrank 0 {\nbuffers input 4 output 4 scratch 4\n}\n"
      "rank 1 {\nbuffers input 4 output 4 scratch 4\nport_channels [";
  for (int i = 0; i < 1025; ++i)
    turned += i ? ", 0" : "0";
  CHECK(has(errors(turned + "]\n}\n}\n"), "rank 0 takes 1025 semaphores"));
}

TEST_CASE("bytes behind chunks, at the maximum message size") {
  auto sized = [](std::uint64_t bytes, const char *ops, const char *more = "") {
    return errors(small(ops, more + ("max_message_size " + std::to_string(bytes) + "\n")));
  };
  constexpr std::uint64_t gib = std::uint64_t{1} << 30;
  CHECK(sized(4 * gib, "copy output[3:4] <- input[3:4]") == "");
  CHECK(has(sized(8 * gib, "copy output[3:4] <- input[3:4]"),
            "error: copy in block 0 of rank 0 reaches byte 8589934592 at the maximum message size of 8589934592 bytes; "
            "mscclpp-1f5f065d holds offsets and sizes in 32 bits"));
  CHECK(sized(8 * gib, "copy output[0:1] <- input[0:1]") == "");
  CHECK(has(sized(4 * gib, "upkt output[0:1] <- scratch[2:3]"), "reaches byte 6442450944 at"));
  // A chunk of 4 GiB has a length that takes a bit more.
  CHECK(has(sized(16 * gib, "copy output[0:1] <- input[0:1]"), "reaches byte 4294967296 at"));
  CHECK(has(errors(small("copy output[3:4] <- input[3:4]", "min_message_size 8589934592\n")),
            "reaches byte 8589934592 at the smallest message, of 8589934592 bytes; "));
}

TEST_CASE("the largest message is stated where the program states none") {
  const auto largest = [](const std::string &ops, const std::string &options = "", const std::string &rank = "") {
    return runPasses(parseProgram(small(ops, options, rank)), "fit-executor", "mscclpp").program.maxMessageSize;
  };
  constexpr std::uint64_t gib = std::uint64_t{1} << 30, mib = 1 << 20, none = ~std::uint64_t{0};
  CHECK(largest("nop") == none);
  CHECK(largest("copy output[3:4] <- input[3:4]") == 4 * gib);
  CHECK(largest("copy output[0:1] <- input[0:1]") == 16 * gib - 64);
  CHECK(largest("copy output[0:1] <- input[2:3]") == (4 * gib / 3) / 16 * 16 * 4);
  CHECK(largest("upkt output[0:1] <- scratch[3:4]", "protocol LL\n") == 2 * gib);
  CHECK(largest("copy output[3:4] <- input[3:4]", "max_message_size 1048576\n") == mib);
  // Loops count in 16 bits.
  CHECK(largest("pipeline unit_size 64 num_chunks 1 {\nnop\n}") == std::uint64_t{65535} * 64 * 4);
  // Reused scratch: 16 MiB for each of four chunks; what goes through it in a pipeline may be longer.
  CHECK(largest("copy scratch[0:1] <- input[0:1]", "reuse_resources on\n") == 64 * mib);
  const auto loop = [](const std::string &op) { return "pipeline unit_size 65536 num_chunks 1 {\n" + op + "\n}"; };
  CHECK(largest(loop("copy scratch[0:1] <- input[0:1]"), "reuse_resources on\n") == 65535 * mib / 16 * 4);
  // Double scratch of 4 chunks of packets, twice: 16 times a chunk below 4 GiB.
  CHECK(largest("nop", "double_scratch on\nprotocol LL\n") == gib);
  CHECK(has(errors(small("nop", "double_scratch on\nprotocol LL\nmax_message_size 2147483648\n")),
            "program 't': error: double scratch of rank 0 takes up to 8589934592 bytes at the maximum message size of "
            "2147483648 bytes; mscclpp-1f5f065d reaches its second half by offsets of 32 bits: messages of up to "
            "1073741824 bytes fit"));
}

TEST_CASE("halves of double scratch are multiples of 16 bytes, whatever the allocation") {
  const auto scratch = [](const std::string &buffers, const std::string &options) {
    const std::string text = "mscclc.ir 1\nprogram \"t\" {\ncollective test\n" + options + "rank 0 {\nbuffers " +
                             buffers + "\nblock 0 {\ncopy scratch[0:1] <- input[0:1]\n}\n}\n}\n";
    return runPasses(parseProgram(text), "fit-executor", "mscclpp").program.ranks[0].scratchChunks;
  };
  CHECK(scratch("input 6 output 6 scratch 3", "double_scratch on\n") == 16);
  CHECK(scratch("input 6 output 6 scratch 3", "double_scratch on\nprotocol LL\n") == 8);
  CHECK(scratch("input 6 output 6 scratch 16", "double_scratch on\n") == 16);
  CHECK(scratch("input 64 output 64 scratch 3", "double_scratch on\n") == 16);
  CHECK(scratch("input 8 output 6 scratch 3", "double_scratch on\n") == 3);
  CHECK(scratch("input 6 output 6 scratch 3", "") == 3);
  CHECK(scratch("input 6 output 6 scratch 3", "double_scratch on\nreuse_resources on\n") == 3);
}

TEST_CASE("what a pipeline gets wrong where chunks are longer than their share of reused scratch") {
  constexpr std::uint64_t mib = 1 << 20;
  const auto looped = [](const std::string &op, const std::string &options) {
    return runPasses(parseProgram(programText("pipeline unit_size 65536 num_chunks 1 {\n" + op + "\n}",
                                              "reuse_resources on\n" + options)),
                     "fit-executor", "mscclpp");
  };
  const char *large = "max_message_size 134217728\n";
  // Eight chunks of scratch: 8 MiB each.
  const std::string sum = "re output[0:1] <- output[0:1], scratch[0:1]";
  CHECK(has(looped(sum, large).errors,
            "rank 0, block 0, operation 1: error: 're' moves chunks of 16777216 bytes at the maximum message size of "
            "134217728 bytes through chunks of 8388608 bytes of reused scratch; mscclpp-1f5f065d then takes the "
            "kind of "
            "its sources from its destinations: use messages of up to 67108864 bytes, or bake a kernel "
            "(--emit-cuda --target=none)"));
  CHECK(looped(sum, "").program.maxMessageSize == 64 * mib);
  CHECK_FALSE(has(looped("re output[0:1] <- scratch[0:1], output[0:1]", large).errors, "takes the kind"));
  // Position 2 of the table of remote buffers reads like scratch.
  CHECK(has(looped("res memory output[0:1], remote2[0:1] <- output[0:1], input[0:1]", large).errors, "takes the kind"));
  std::string bare =
      programText("res memory output[0:1], remote2[0:1] <- output[0:1], input[0:1]", "reuse_resources on\n");
  bare.replace(bare.find("scratch 8"), 9, "scratch 0");
  CHECK(has(errors(bare), "through chunks of 0 bytes of reused scratch"));
  CHECK_FALSE(
      has(looped("res memory output[0:1], remote2[0:1] <- output[0:1], scratch[0:1]", large).errors, "takes the kind"));
  CHECK(has(looped("get memory [0] output[0:1] <- remote2[0:1]", large).errors,
            "swaps the offsets of source and destination: use messages of up to 67108864 bytes"));
  std::string text = programText("pipeline unit_size 65536 num_chunks 1 {\nput memory remote2[0:1] <- input[0:1]\n}",
                                 std::string("reuse_resources on\n") + large);
  text.replace(text.rfind("scratch 8"), 9, "scratch 4");
  CHECK(has(errors(text),
            "takes the scratch of another rank to be cut like its own: use messages of up to 67108864 bytes"));
}

TEST_CASE("slices of fewer units than there are, where they are cut wrong") {
  const auto sliced = [](const std::string &options, const std::string &target = "mscclpp-0.9") {
    return errors(small("copy output[0:2] <- input[0:2] slice 1 of 8", options), target);
  };
  CHECK(has(sliced(""), "rank 0, block 0, operation 0: error: mscclpp-0.9 cuts 'copy' in 8 slices wrong where it has "
                        "fewer units of 16 bytes to move: state a minimum message size of 256 bytes, or bake a kernel "
                        "(--emit-cuda --target=none)"));
  CHECK(sliced("min_message_size 256\n") == "");
  CHECK(sliced("", "mscclpp") == "");
}

TEST_CASE("iterations and units of a pipeline") {
  auto loop = [](const char *unit, const char *options) {
    return errors(small(std::string("pipeline unit_size ") + unit + " num_chunks 1 {\nnop\n}", options));
  };
  CHECK(
      has(loop("16", "max_message_size 8388608\n"),
          "error: a pipeline in block 0 of rank 0 runs 131072 iterations at the maximum message size of 8388608 bytes; "
          "mscclpp-1f5f065d counts 65535"));
  CHECK(loop("64", "max_message_size 8388608\n") == "");
  CHECK(has(loop("4294967296", ""), "error: a pipeline in block 0 of rank 0 has a unit of 4294967296 bytes; "
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
  CHECK(findTarget("mscclpp-next")->executor->switchSignals);
  CHECK(targetNames() == "mscclpp, mscclpp-1f5f065d, mscclpp-0.9, mscclpp-next, none");
}

} // namespace
