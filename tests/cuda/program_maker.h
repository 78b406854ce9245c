// Builds programs in which every rank has a channel to every other.
#pragma once

#include "ir/op_semantics.h"
#include "ir/program.h"

#include <initializer_list>

namespace mscclc::test {

using ir::BufferKind;
using ir::ChannelType;
using ir::Chunk;
using ir::ChunkSpace;
using ir::OpKind;

class ProgramMaker {
public:
  /// `inputs`, `outputs`, `scratch`: chunks of each rank.
  ProgramMaker(std::string name, ir::CollectiveKind kind, std::uint32_t ranks, std::uint32_t inputs,
               std::uint32_t outputs, std::uint32_t scratch, std::uint32_t blocks, bool inPlace = false) {
    program.name = std::move(name);
    program.collective.kind = kind;
    program.collective.name = ir::toString(kind);
    program.collective.inplace = inPlace;
    program.threadsPerBlock = 64;
    program.ranks.resize(ranks);
    for (std::uint32_t r = 0; r < ranks; ++r) {
      ir::Rank &rank = program.ranks[r];
      rank.inputChunks = inputs;
      rank.outputChunks = outputs;
      rank.scratchChunks = scratch;
      rank.blocks.resize(blocks);
    }
  }

  std::uint32_t ranks() const { return static_cast<std::uint32_t>(program.ranks.size()); }

  /// Adds a channel of `type` from every rank to every other one. Returns the index of a rank's first one. Its channel
  /// to `peer` is channel(first, rank, peer).
  std::uint32_t connectAll(ChannelType type = ChannelType::Memory) {
    std::uint32_t first = 0;
    for (std::uint32_t r = 0; r < ranks(); ++r) {
      auto &peers = type == ChannelType::Port ? program.ranks[r].portPeers : program.ranks[r].memoryPeers;
      first = static_cast<std::uint32_t>(peers.size());
      for (std::uint32_t p = 0; p < ranks(); ++p)
        if (p != r)
          peers.push_back(p);
    }
    return first;
  }
  static std::uint32_t channel(std::uint32_t first, std::uint32_t rank, std::uint32_t peer) {
    return first + peer - (peer > rank ? 1 : 0);
  }

  static Chunk input(std::uint32_t index, std::uint32_t size = 1) { return {ChunkSpace::Input, index, size, 0}; }
  static Chunk output(std::uint32_t index, std::uint32_t size = 1) { return {ChunkSpace::Output, index, size, 0}; }
  static Chunk scratch(std::uint32_t index, std::uint32_t size = 1) { return {ChunkSpace::Scratch, index, size, 0}; }
  static Chunk multicast(std::uint32_t channel, std::uint32_t index, std::uint32_t size = 1) {
    return {ChunkSpace::Switch, index, size, channel};
  }
  /// Returns a chunk of `peer` as an operand of `rank`.
  Chunk remote(std::uint32_t rank, std::uint32_t peer, BufferKind buffer, std::uint32_t index, std::uint32_t size = 1,
               ChannelType type = ChannelType::Memory) {
    auto &all = program.ranks[rank].remoteBuffers;
    std::uint32_t id = 0;
    while (id < all.size() && (all[id].rank != peer || all[id].buffer != buffer))
      ++id;
    if (id == all.size())
      all.push_back({peer, buffer, false, false});
    (type == ChannelType::Port ? all[id].viaPort : all[id].viaMemory) = true;
    return {ChunkSpace::Remote, index, size, id};
  }

  /// Appends an operation to block `block` of `rank`. The returned reference is valid until the next call.
  ir::Op &add(std::uint32_t rank, std::uint32_t block, OpKind kind, std::vector<Chunk> srcs = {},
              std::vector<Chunk> dsts = {}, std::vector<std::uint32_t> ids = {}, ChannelType type = ChannelType::None) {
    ir::Op op;
    op.kind = kind;
    op.channelType = type;
    ir::ThreadBlock &b = program.ranks[rank].blocks[block];
    return b.ops[b.append(op, srcs, dsts, ids)];
  }
  void nop(std::uint32_t rank, std::uint32_t block) { add(rank, block, OpKind::Nop); }
  /// Appends an operation of `kind` on the channels to all peers.
  void all(std::uint32_t rank, std::uint32_t block, OpKind kind, std::uint32_t first,
           ChannelType type = ChannelType::Memory) {
    std::vector<std::uint32_t> ids;
    for (std::uint32_t p = 0; p < ranks(); ++p)
      if (p != rank)
        ids.push_back(channel(first, rank, p));
    add(rank, block, kind, {}, {}, ids, type);
  }
  /// All ranks wait for each other. `relaxed`: the signals order only against the last launch.
  void meet(std::uint32_t rank, std::uint32_t block, std::uint32_t first, bool relaxed) {
    nop(rank, block);
    all(rank, block, relaxed ? OpKind::RelaxedSignal : OpKind::Signal, first);
    all(rank, block, relaxed ? OpKind::RelaxedWait : OpKind::Wait, first);
    nop(rank, block);
  }

  ir::Program program;
};

} // namespace mscclc::test
