// Programs and helpers that the plan tests share.
#pragma once

#include "backend-json/read_plan.h"
#include "backend-json/write_plan.h"
#include "catch.h"

#include <sstream>

namespace plans {

using namespace mscclc;
using namespace mscclc::ir;

inline std::string write(const Program &program, const json::WriteOptions &options = {}) {
  std::ostringstream out;
  REQUIRE(json::writePlan(program, out, options));
  return out.str();
}

/// Reads a plan; empty with the diagnostics in `messages` after errors.
inline std::optional<Program> read(std::string_view text, std::string &messages) {
  DiagnosticEngine engine;
  engine.setErrorLimit(0); // the reader has a limit of its own
  auto program = json::readPlan(text, "plan.json", engine);
  messages = engine.render(false);
  CHECK(program.has_value() != engine.hasErrors());
  return program;
}

inline Program readGood(std::string_view text) {
  std::string messages;
  auto program = read(text, messages);
  INFO(messages);
  REQUIRE(program);
  CHECK(messages.empty());
  return std::move(*program);
}

/// `text` with `from`, which occurs once, replaced.
inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const auto at = text.find(from);
  INFO(from);
  REQUIRE(at != std::string::npos);
  REQUIRE(text.find(from, at + 1) == std::string::npos);
  return text.replace(at, from.size(), to);
}

inline Chunk input(std::uint32_t index, std::uint32_t size = 1) {
  return {ChunkSpace::Input, index, size, 0};
}
inline Chunk output(std::uint32_t index, std::uint32_t size = 1) {
  return {ChunkSpace::Output, index, size, 0};
}
inline Chunk scratch(std::uint32_t index, std::uint32_t size = 1) {
  return {ChunkSpace::Scratch, index, size, 0};
}
inline Chunk remote(std::uint32_t id, std::uint32_t index, std::uint32_t size = 1) {
  return {ChunkSpace::Remote, index, size, id};
}
inline Chunk multicast(std::uint32_t id, std::uint32_t index, std::uint32_t size = 1) {
  return {ChunkSpace::Switch, index, size, id};
}

inline Op op(OpKind kind, ChannelType type = ChannelType::None) {
  Op made;
  made.kind = kind;
  made.channelType = type;
  return made;
}
inline Op sliced(Op made, std::uint32_t index, std::uint32_t size) {
  made.groupIndex = index;
  made.groupSize = size;
  return made;
}
inline Op barrier(std::uint64_t id, std::uint32_t blocks) {
  Op made = op(OpKind::Barrier);
  made.imm = id;
  made.count = blocks;
  return made;
}
inline Op pipeline(std::uint64_t unit, std::uint32_t chunks, std::uint32_t body) {
  Op made = op(OpKind::Pipeline);
  made.imm = unit;
  made.count = chunks;
  made.bodySize = body;
  return made;
}

/// Two ranks without channels, one block each that holds `ops` nops.
inline Program nops(std::uint32_t ops) {
  Program program;
  program.name = "nops";
  program.ranks.resize(2);
  for (Rank &rank : program.ranks) {
    rank.blocks.resize(1);
    for (std::uint32_t i = 0; i < ops; ++i)
      rank.blocks[0].append(op(OpKind::Nop));
  }
  return program;
}

/// Returns a program with every kind of operation, which the structural checker accepts. Rank 0 does all of them. Block
/// 1 uses the tables in reverse order, so that its indices differ from the rank's.
inline Program everyOperation() {
  using enum OpKind;
  constexpr auto memory = ChannelType::Memory, port = ChannelType::Port, viaSwitch = ChannelType::Switch;
  Program program;
  program.name = "every operation";
  program.collective.kind = CollectiveKind::Custom;
  program.collective.name = "mix";
  program.protocol = Protocol::LL;
  program.reuseResources = true;
  program.doubleScratch = true;
  program.threadsPerBlock = 512;
  program.bufferAlignment = 32;
  program.minMessageSize = 1024;
  program.ranks.resize(3);
  for (Rank &rank : program.ranks) {
    rank.inputChunks = rank.outputChunks = 4;
    rank.scratchChunks = 8;
    rank.switchChannels = {{BufferKind::Input, {0, 1, 2}}, {BufferKind::Scratch, {2, 1, 0}}};
  }
  Rank &rank = program.ranks[0];
  rank.memoryPeers = {1, 2, 1};
  rank.portPeers = {2, 1};
  rank.portChannelsFirst = true;
  rank.remoteBuffers = {{1, BufferKind::Scratch, true, false},
                        {2, BufferKind::Output, true, true},
                        {1, BufferKind::Input, false, true},
                        {1, BufferKind::Output, true, false}};
  rank.semaphores = {{0}, {3}};
  rank.blocks.resize(2);

  ThreadBlock &a = rank.blocks[0];
  a.channels = {{memory, 0}, {port, 0}, {memory, 1}, {viaSwitch, 0}, {viaSwitch, 1}, {port, 1}};
  a.remoteBuffers = {{memory, 0}, {memory, 1}, {port, 1}, {port, 2}, {memory, 3}};
  const auto add = [](ThreadBlock &block, Op made, std::vector<Chunk> srcs = {}, std::vector<Chunk> dsts = {},
                      std::vector<std::uint32_t> ids = {}) { block.append(made, srcs, dsts, ids); };
  add(a, op(Nop));
  add(a, barrier(0, 2));
  add(a, op(SemAcquire), {}, {}, {0, 1});
  add(a, op(SemRelease), {}, {}, {1});
  add(a, op(Signal, memory), {}, {}, {0, 1});
  add(a, op(Wait, port), {}, {}, {0});
  add(a, op(RelaxedSignal, memory), {}, {}, {1});
  add(a, op(RelaxedWait, memory), {}, {}, {0});
  add(a, op(Flush, port), {}, {}, {0, 1});
  add(a, sliced(op(Copy), 1, 4), {input(0)}, {output(1)});
  add(a, op(CopyPacket), {input(0)}, {scratch(1)});
  add(a, op(UnpackPacket), {scratch(0)}, {output(1)});
  Op smallest = op(Reduce);
  smallest.reduceOp = ReduceOp::Min;
  add(a, smallest, {input(0), input(1)}, {output(0)});
  add(a, op(ReducePacket), {input(0), scratch(1)}, {output(0)});
  Op largest = op(ReduceCopyPacket);
  largest.reduceOp = ReduceOp::Max;
  add(a, largest, {input(0), scratch(1)}, {output(0), scratch(2)});
  add(a, op(ReduceSend, memory), {input(0), input(1)}, {output(0), remote(1, 0), remote(3, 0)});
  add(a, op(ReduceSendPacket, memory), {input(0), scratch(1)}, {output(0), remote(0, 0)});
  add(a, op(ReduceCopySendPacket, memory), {input(0), scratch(1)}, {output(0), scratch(2), remote(0, 0)});
  add(a, op(ReadReduce, memory), {input(0), remote(1, 0)}, {output(0)});
  add(a, op(ReadReduceSend, memory), {input(0), remote(1, 0)}, {output(0), remote(3, 0)});
  add(a, op(SwitchReduce, viaSwitch), {multicast(1, 2, 2)}, {output(0, 2)}, {1});
  add(a, op(SwitchBroadcast, viaSwitch), {input(1)}, {multicast(0, 3)}, {0});
  add(a, op(SwitchBroadcastPacket, viaSwitch), {scratch(1)}, {multicast(1, 3)}, {1});
  add(a, op(SwitchReduceBroadcast, viaSwitch), {multicast(0, 1)}, {multicast(0, 2)}, {0});
  add(a, op(SwitchReduceBroadcast, viaSwitch), {multicast(0, 1)}, {multicast(1, 2)}, {0, 1});

  ThreadBlock &b = rank.blocks[1];
  b.channels = {{port, 1}, {memory, 2}, {port, 0}, {memory, 1}};
  b.remoteBuffers = {{port, 2}, {port, 1}, {memory, 3}, {memory, 1}, {memory, 0}};
  add(b, barrier(0, 2));
  add(b, pipeline(1 << 20, 2, 3));
  add(b, op(Get, memory), {remote(3, 0), remote(1, 1)}, {input(2), input(3)}, {2, 1});
  add(b, op(Put, memory), {input(0)}, {remote(3, 1)});
  add(b, op(Nop));
  add(b, op(Put, port), {input(0), input(1)}, {remote(1, 0), remote(2, 1)}, {0, 1});
  add(b, op(PutWithSignal, port), {input(0)}, {remote(1, 0)}, {0});
  add(b, op(PutWithSignalAndFlush, port), {input(0)}, {remote(2, 0)}, {1});
  add(b, op(PutPacket, memory), {input(0)}, {remote(0, 0)});
  add(b, op(ReadPutPacket, memory), {scratch(0)}, {remote(0, 4)});
  return program;
}

} // namespace plans
