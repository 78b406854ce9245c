// Which memory operations touch, operand by operand: by space, channel type, form, and what two of them share.
#include "catch.h"
#include "ir/memory_map.h"
#include "ir/text.h"

using namespace mscclc;
using namespace mscclc::ir;

namespace {

/// A program of three ranks whose rank 1 runs these operations in block 0.
Program programOf(const std::string &collective, const std::string &operations) {
  const std::string buffers = collective == "allgather inplace"       ? "buffers input 2 output 6 scratch 8\n"
                              : collective == "reducescatter inplace" ? "buffers input 6 output 2 scratch 8\n"
                                                                      : "buffers input 6 output 6 scratch 8\n";
  std::string text = "mscclc.ir 1\nprogram \"p\" {\ncollective " + collective + "\n";
  for (std::uint32_t r = 0; r < 3; ++r) {
    text += "rank " + std::to_string(r) + " {\n" + buffers;
    if (r == 1)
      text += "memory_channels [0, 2]\nport_channels [0]\n";
    if (r == 0)
      text += "memory_channels [1]\nport_channels [1]\n";
    if (r == 2)
      text += "memory_channels [1]\n";
    text += "switch0 = output of [2, 0, 1]\n";
    if (r == 1)
      text += "remote0 = 0.scratch via memory via port\nremote1 = 2.output via memory\n"
              "block 0 {\nchannels [memory 0, memory 1, port 0, switch 0]\n"
              "remotes [memory 0, memory 1, port 0]\n" +
              operations + "}\n";
    text += "}\n";
  }
  DiagnosticEngine diagnostics;
  const auto program = parse(text + "}\n", "x.ir", diagnostics);
  INFO(diagnostics.render(false));
  REQUIRE(program);
  return *program;
}

std::string show(const MemoryPiece &piece) {
  constexpr std::string_view reaches[] = {"own", "memory", "port", "switch"};
  return std::to_string(piece.operand) + (piece.access == Access::Read ? " reads " : " writes ") +
         std::to_string(piece.rank) + "." + std::string(toString(piece.buffer)) + "[" + std::to_string(piece.index) +
         ":" + std::to_string(piece.index + piece.size) + "]" + (piece.isPacket() ? " packets " : " ") +
         std::string(reaches[static_cast<std::size_t>(piece.reach)]) + "\n";
}

/// The pieces of all operations of rank 1.
std::string piecesOf(const std::string &operations) {
  const Program program = programOf("test", operations);
  const ThreadBlock &block = program.ranks[1].blocks[0];
  std::string text;
  for (const Op &op : block.ops)
    forEachMemory(program, 1, block, op, [&](const MemoryPiece &piece) { text += show(piece); });
  return text;
}

std::vector<MemoryRange> rangesOf(const std::string &collective, const std::string &operations) {
  const Program program = programOf(collective, operations);
  const ThreadBlock &block = program.ranks[1].blocks[0];
  std::vector<MemoryRange> ranges;
  for (const Op &op : block.ops)
    forEachMemory(program, 1, block, op, [&](const MemoryPiece &piece) { ranges.push_back(memoryOf(program, piece)); });
  return ranges;
}

} // namespace

TEST_CASE("local operands lie in the operation's own rank") {
  CHECK(piecesOf("re output[0:2] <- input[2:4], scratch[4:6]\n") == "0 reads 1.input[2:4] own\n"
                                                                    "1 reads 1.scratch[4:6] own\n"
                                                                    "2 writes 1.output[0:2] own\n");
}

TEST_CASE("remote operands lie where the rank's remote buffers are") {
  CHECK(piecesOf("put memory remote0[3:4] <- input[0:1]\n"
                 "put port [0] remote0[3:4] <- input[0:1]\n"
                 "get memory [1] output[0:1] <- remote1[5:6]\n") == "0 reads 1.input[0:1] own\n"
                                                                    "1 writes 0.scratch[3:4] memory\n"
                                                                    "0 reads 1.input[0:1] own\n"
                                                                    "1 writes 0.scratch[3:4] port\n"
                                                                    "0 reads 2.output[5:6] memory\n"
                                                                    "1 writes 1.output[0:1] own\n");
}

TEST_CASE("a switch operand lies in every rank of its group, in the group's order") {
  const std::string operation = "gstore switch [0] switch0[1:3] <- input[0:2]\n";
  CHECK(piecesOf(operation) == "0 reads 1.input[0:2] own\n"
                               "1 writes 2.output[1:3] switch\n"
                               "1 writes 0.output[1:3] switch\n"
                               "1 writes 1.output[1:3] switch\n");
  const Program program = programOf("test", operation);
  const ThreadBlock &block = program.ranks[1].blocks[0];
  std::string own;
  forEachOwnMemory(program, 1, block, block.ops[0], [&](const MemoryPiece &piece) { own += show(piece); });
  CHECK(own == "0 reads 1.input[0:2] own\n1 writes 1.output[1:3] switch\n");
  CHECK(bufferOf(program.ranks[1], block.dsts(block.ops[0])[0]) == BufferKind::Output);
}

TEST_CASE("own memory leaves out what lies with peers") {
  const Program program = programOf("test", "put memory remote0[3:4] <- input[0:1]\n");
  const ThreadBlock &block = program.ranks[1].blocks[0];
  std::string own;
  forEachOwnMemory(program, 1, block, block.ops[0], [&](const MemoryPiece &piece) { own += show(piece); });
  CHECK(own == "0 reads 1.input[0:1] own\n");
}

TEST_CASE("packets are told from plain chunks, a port's from a memory channel's") {
  CHECK(piecesOf("ppkt memory remote0[1:2] <- input[0:1]\n"
                 "ppkt port [0] remote0[1:2] <- scratch[0:1]\n"
                 "recpkt output[0:1], scratch[2:3] <- input[0:1], scratch[1:2]\n") ==
        "0 reads 1.input[0:1] own\n"
        "1 writes 0.scratch[1:2] packets memory\n"
        "0 reads 1.scratch[0:1] packets own\n"
        "1 writes 0.scratch[1:2] packets port\n"
        "0 reads 1.input[0:1] own\n"
        "1 reads 1.scratch[1:2] packets own\n"
        "2 writes 1.output[0:1] own\n"
        "3 writes 1.scratch[2:3] packets own\n");
}

TEST_CASE("packets cover twice their chunks of memory") {
  const auto ranges = rangesOf("test", "upkt scratch[5:6] <- scratch[2:3]\n");
  CHECK(ranges[0] == MemoryRange{BufferKind::Scratch, 4, 6});
  CHECK(ranges[0].overlaps(ranges[1]));
}

TEST_CASE("in place, a peer's share is part of its other buffer") {
  const auto gathered = rangesOf("allgather inplace", "get memory [1] output[0:1] <- remote1[4:5]\n"
                                                      "copy output[3:4] <- input[1:2]\n");
  CHECK(gathered[0] == MemoryRange{BufferKind::Output, 4, 5});
  CHECK(gathered[2] == gathered[3]); // rank 1's input begins at chunk 2 of its output
  const auto scattered = rangesOf("reducescatter inplace", "get memory [1] input[0:1] <- remote1[1:2]\n");
  CHECK(scattered[0] == MemoryRange{BufferKind::Input, 5, 6}); // rank 2's output, at chunk 4 of its input
}
