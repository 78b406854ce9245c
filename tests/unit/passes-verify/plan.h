// Programs built by hand: a few words for each operation, tables of blocks kept as the structure checker wants them.
#pragma once

#include "ir/program.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace plan {

using namespace mscclc::ir;

inline Chunk in(std::uint32_t i, std::uint32_t n = 1) {
  return {ChunkSpace::Input, i, n, 0};
}
inline Chunk out(std::uint32_t i, std::uint32_t n = 1) {
  return {ChunkSpace::Output, i, n, 0};
}
inline Chunk scratch(std::uint32_t i, std::uint32_t n = 1) {
  return {ChunkSpace::Scratch, i, n, 0};
}
inline Chunk onSwitch(std::uint32_t channel, std::uint32_t i, std::uint32_t n = 1) {
  return {ChunkSpace::Switch, i, n, channel};
}

using Chunks = std::vector<Chunk>;
using Ids = std::vector<std::uint32_t>;

/// A block being written. Operations are appended in order.
class Block {
public:
  Block(Program &program, std::uint32_t rank, std::uint32_t block) : program_(program), rank_(rank), block_(block) {}

  Block &nop() { return add({.kind = OpKind::Nop}); }
  Block &barrier(std::uint32_t id, std::uint32_t count) {
    return add({.kind = OpKind::Barrier, .imm = id, .count = count});
  }
  Block &acquire(Ids ids) { return add({.kind = OpKind::SemAcquire}, {}, {}, ids); }
  Block &release(Ids ids) { return add({.kind = OpKind::SemRelease}, {}, {}, ids); }
  Block &signal(Ids ids, ChannelType type = ChannelType::Memory) { return sync(OpKind::Signal, type, ids); }
  Block &wait(Ids ids, ChannelType type = ChannelType::Memory) { return sync(OpKind::Wait, type, ids); }
  Block &relaxedSignal(Ids ids) { return sync(OpKind::RelaxedSignal, ChannelType::Memory, ids); }
  Block &relaxedWait(Ids ids) { return sync(OpKind::RelaxedWait, ChannelType::Memory, ids); }
  Block &flush(Ids ids) { return sync(OpKind::Flush, ChannelType::Port, ids); }
  Block &copy(Chunk dst, Chunk src) { return add({.kind = OpKind::Copy}, {src}, {dst}); }
  Block &reduce(Chunk dst, Chunks srcs, ReduceOp op = ReduceOp::Sum) {
    return add({.kind = OpKind::Reduce, .reduceOp = op}, srcs, {dst});
  }
  /// An operation on remote memory; port operations name their channels.
  Block &remote(OpKind kind, Chunks dsts, Chunks srcs, ChannelType type = ChannelType::Memory, Ids ids = {}) {
    return add({.kind = kind, .channelType = type}, srcs, dsts, ids);
  }
  Block &pipeline(std::uint64_t unit, std::uint32_t chunks, std::uint32_t body) {
    return add({.kind = OpKind::Pipeline, .imm = unit, .count = chunks, .bodySize = body});
  }
  /// The last operation moves slice `index` of `size`.
  Block &slice(std::uint32_t index, std::uint32_t size) {
    code().ops.back().groupIndex = index;
    code().ops.back().groupSize = size;
    return *this;
  }
  Block &at(LocId loc) {
    code().ops.back().loc = loc;
    return *this;
  }
  /// The peer's buffer as an operand.
  Chunk of(std::uint32_t peer, BufferKind buffer, std::uint32_t i, std::uint32_t n = 1,
           ChannelType type = ChannelType::Memory) {
    auto &remotes = program_.ranks[rank_].remoteBuffers;
    std::uint32_t id = 0;
    while (id < remotes.size() && (remotes[id].rank != peer || remotes[id].buffer != buffer))
      ++id;
    if (id == remotes.size())
      remotes.push_back({peer, buffer, false, false});
    (type == ChannelType::Port ? remotes[id].viaPort : remotes[id].viaMemory) = true;
    use(code().remoteBuffers, {type, id});
    return {ChunkSpace::Remote, i, n, id};
  }

private:
  ThreadBlock &code() { return program_.ranks[rank_].blocks[block_]; }
  static void use(std::vector<ResourceUse> &table, ResourceUse entry) {
    if (std::find(table.begin(), table.end(), entry) == table.end())
      table.push_back(entry);
  }
  Block &sync(OpKind kind, ChannelType type, const Ids &ids) {
    return add({.kind = kind, .channelType = type}, {}, {}, ids);
  }
  Block &add(Op op, const Chunks &srcs = {}, const Chunks &dsts = {}, const Ids &ids = {}) {
    if (op.channelType != ChannelType::None)
      for (const std::uint32_t id : ids)
        use(code().channels, {op.channelType, id});
    code().append(op, srcs, dsts, ids);
    return *this;
  }
  Program &program_;
  std::uint32_t rank_, block_;
};

class Plan {
public:
  Program program;

  Plan(CollectiveKind kind, std::uint32_t ranks, std::uint32_t inputs, std::uint32_t outputs, bool inplace = false,
       std::uint32_t scratchChunks = 0) {
    program.name = "by hand";
    program.collective.kind = kind;
    program.collective.name = toString(kind);
    program.collective.inplace = inplace;
    program.ranks.resize(ranks);
    for (Rank &r : program.ranks) {
      r.inputChunks = inputs;
      r.outputChunks = outputs;
      r.scratchChunks = scratchChunks;
    }
  }
  std::uint32_t numRanks() const { return static_cast<std::uint32_t>(program.ranks.size()); }
  /// Makes a channel; its number on `from`.
  std::uint32_t channel(std::uint32_t from, std::uint32_t to, ChannelType type = ChannelType::Memory) {
    Rank &r = program.ranks[from];
    auto &peers = type == ChannelType::Port ? r.portPeers : r.memoryPeers;
    peers.push_back(to);
    return static_cast<std::uint32_t>(peers.size() - 1);
  }
  std::uint32_t semaphore(std::uint32_t rank, std::uint32_t initial = 0) {
    program.ranks[rank].semaphores.push_back({initial});
    return static_cast<std::uint32_t>(program.ranks[rank].semaphores.size() - 1);
  }
  void switchChannel(BufferKind buffer) {
    std::vector<std::uint32_t> all(numRanks());
    for (std::uint32_t r = 0; r < numRanks(); ++r)
      all[r] = r;
    for (Rank &r : program.ranks)
      r.switchChannels.push_back({buffer, all});
  }
  Block on(std::uint32_t rank, std::uint32_t block = 0) {
    auto &blocks = program.ranks[rank].blocks;
    if (blocks.size() <= block)
      blocks.resize(block + 1);
    return {program, rank, block};
  }
  /// Channels of one rank to all others, in order; makes one each way for every pair.
  void connectAll(ChannelType type = ChannelType::Memory) {
    for (std::uint32_t r = 0; r < numRanks(); ++r)
      for (std::uint32_t p = 0; p < numRanks(); ++p)
        if (p != r)
          channel(r, p, type);
  }
  Ids allChannels() const {
    Ids ids(numRanks() - 1);
    for (std::uint32_t i = 0; i < ids.size(); ++i)
      ids[i] = i;
    return ids;
  }
};

} // namespace plan
