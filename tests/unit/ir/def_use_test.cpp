// Tests versions, which say which write each read sees. The text shows them, so most cases are text that must print
// unchanged.
#include "catch.h"
#include "ir/def_use.h"
#include "ir/memory_map.h"
#include "ir/op_semantics.h"
#include "ir/text.h"
#include "random_program.h"

using namespace mscclc;
using namespace mscclc::ir;

namespace {

/// The operations of block 0 of `rank` as they print, given without versions.
std::string withVersions(const std::string &collective, std::uint32_t rank, const std::string &operations) {
  std::string text = "mscclc.ir 1\nprogram \"p\" {\ncollective " + collective + "\n";
  for (std::uint32_t r = 0; r < 2; ++r) {
    text += "rank " + std::to_string(r) + " {\nbuffers input " +
            (collective == "allgather inplace" ? std::string("4") : "8") + " output 8 scratch 8\n" +
            "switch0 = output of [0, 1]\n";
    if (r == rank)
      text += "block 0 {\nchannels [switch 0]\n" + operations + "}\n";
    text += "}\n";
  }
  DiagnosticEngine diagnostics;
  const auto program = parse(text + "}\n", "x.ir", diagnostics);
  INFO(diagnostics.render(false));
  REQUIRE(program);
  std::string out;
  print(*program, out);
  const std::size_t begin = out.find("switch 0]\n") + 10;
  out = out.substr(begin, out.find("    }\n", begin) - begin);
  for (std::size_t at; (at = out.find("      ")) != std::string::npos;)
    out.erase(at, 6);
  return out;
}

} // namespace

TEST_CASE("a read sees the last write of each part, left to right") {
  CHECK(withVersions("test", 0,
                     "copy scratch[0:4] <- input[0:4]\ncopy scratch[1:2] <- input[0:1]\n"
                     "copy output[0:6] <- scratch[0:6]\ncopy output[0:2] <- scratch[1:3]\n") ==
        "%0 = copy scratch[0:4] <- input[0:4]%in\n%1 = copy scratch[1:2] <- input[0:1]%in\n"
        "%2 = copy output[0:6] <- scratch[0:6]%{0, 1, 0, in}\n%3 = copy output[0:2] <- scratch[1:3]%{1, 0}\n");
}

TEST_CASE("an operation reads before it writes") {
  CHECK(withVersions("test", 0,
                     "re output[0:1] <- output[0:1], input[0:1]\nre output[0:1] <- output[0:1], input[1:2]\n") ==
        "%0 = re output[0:1] <- output[0:1]%in, input[0:1]%in\n"
        "%1 = re output[0:1] <- output[0:1]%0, input[1:2]%in\n");
}

TEST_CASE("in place, input and output are one memory") {
  // Rank 1's input is the second half of its output.
  CHECK(withVersions("allgather inplace", 1, "copy output[5:6] <- scratch[0:1]\ncopy scratch[0:2] <- input[0:2]\n") ==
        "%0 = copy output[5:6] <- scratch[0:1]%in\n%1 = copy scratch[0:2] <- input[0:2]%{in, 0}\n");
  CHECK(withVersions("allreduce inplace", 1, "copy output[5:6] <- scratch[0:1]\ncopy scratch[0:1] <- input[5:6]\n") ==
        "%0 = copy output[5:6] <- scratch[0:1]%in\n%1 = copy scratch[0:1] <- input[5:6]%0\n");
  CHECK(withVersions("allreduce", 1, "copy output[5:6] <- scratch[0:1]\ncopy scratch[0:1] <- input[5:6]\n") ==
        "%0 = copy output[5:6] <- scratch[0:1]%in\n%1 = copy scratch[0:1] <- input[5:6]%in\n");
}

TEST_CASE("packets of scratch are at twice the scale") {
  CHECK(withVersions("test", 0,
                     "cpkt scratch[1:2] <- input[0:1]\ncopy output[0:4] <- scratch[0:4]\n"
                     "upkt output[0:1] <- scratch[1:2]\nupkt output[0:1] <- scratch[2:3]\n") ==
        "%0 = cpkt scratch[1:2] <- input[0:1]%in\n%1 = copy output[0:4] <- scratch[0:4]%{in, 0}\n"
        "%2 = upkt output[0:1] <- scratch[1:2]%0\n%3 = upkt output[0:1] <- scratch[2:3]%in\n");
}

TEST_CASE("a switch operand is an access of this rank's share") {
  CHECK(withVersions("test", 0,
                     "gstore switch [0] switch0[2:3] <- input[0:1]\ncopy scratch[0:1] <- output[2:3]\n"
                     "glre switch [0] scratch[1:2] <- switch0[2:3]\n") ==
        "%0 = gstore switch [0] switch0[2:3] <- input[0:1]%in\n%1 = copy scratch[0:1] <- output[2:3]%0\n"
        "%2 = glre switch [0] scratch[1:2] <- switch0[2:3]%0\n");
}

TEST_CASE("eight versions are shown one by one") {
  std::string operations;
  for (int i = 0; i < 8; ++i)
    operations += "copy scratch[" + std::to_string(i) + ':' + std::to_string(i + 1) + "] <- input[0:1]\n";
  const std::string eight = withVersions("test", 0, operations + "copy output[0:8] <- scratch[0:8]\n");
  CHECK(eight.find("%{0, 1, 2, 3, 4, 5, 6, 7}\n") != std::string::npos);
}

TEST_CASE("of more, the rest is dots, which the parser checks too") {
  std::string text = "mscclc.ir 1\nprogram \"p\" {\nrank 0 {\nbuffers input 20 output 20\nblock 0 {\n";
  for (int i = 0; i < 18; i += 2)
    text += "copy output[" + std::to_string(i) + ':' + std::to_string(i + 1) + "] <- input[0:1]\n";
  const auto parses = [&](const std::string &read) {
    DiagnosticEngine diagnostics;
    return parse(text + "copy input[0:18] <- output[0:18]" + read + "\n}\n}\n}\n", "x.ir", diagnostics).has_value();
  };
  CHECK(parses("%{0, in, 1, in, 2, in, 3, in, ..}"));
  CHECK_FALSE(parses("%{0, in, 1, in, 2, in, 3, in}"));
  CHECK_FALSE(parses("%{0, in, 1, in, 2, in, 3, ..}"));
}

TEST_CASE("versions agree with chunk-by-chunk bookkeeping") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    INFO("seed " << seed);
    const Program program = test::randomProgram(seed);
    for (std::uint32_t r = 0; r < program.ranks.size(); ++r) {
      const Rank &rank = program.ranks[r];
      const auto place = [&](const Chunk &c) {
        const BufferKind buffer =
            isLocal(c.space) ? static_cast<BufferKind>(c.space) : rank.switchChannels[c.id].buffer;
        return canonicalPlace(program, r, buffer, c.index);
      };
      for (std::uint32_t b = 0; b < rank.blocks.size(); ++b) {
        const ThreadBlock &block = rank.blocks[b];
        VersionTracker tracker(program, r);
        std::vector<Version> memory[3];
        for (auto &buffer : memory)
          buffer.assign(512, initialVersion);
        for (std::uint32_t i = 0; i < block.ops.size(); ++i) {
          const Op &op = block.ops[i];
          for (std::uint32_t o = 0; o < op.numChunks(); ++o) {
            const Chunk &chunk = block.operands(op)[o];
            if (chunk.space == ChunkSpace::Remote)
              continue;
            const OperandRole role = roleOf(op, o);
            const std::uint32_t scale = role.form == DataForm::Packet ? 2 : 1;
            auto *first = memory[static_cast<std::size_t>(place(chunk).buffer)].data() + place(chunk).index * scale;
            const std::span<Version> cells(first, chunk.size * scale);
            if (role.access == Access::Write) {
              std::ranges::fill(cells, i);
              continue;
            }
            std::vector<Version> wanted(cells.begin(), cells.end());
            wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
            std::vector<Version> seen;
            REQUIRE(tracker.see(op, o, chunk, ~std::size_t{0}, seen));
            REQUIRE(seen == wanted);
          }
          tracker.define(block, op, i);
        }
      }
    }
  }
}
