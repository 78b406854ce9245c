// The memory that an operation touches: the rank, the chunks, and the access.
//
// Dependency analysis, proof, simulator and backends all ask here. Chunks are those that the operation names;
// memory_map.h finds chunks of the same memory. All functions are for programs that structure.h accepts, unless they
// say otherwise.
#pragma once

#include "ir/op_semantics.h"

#include <utility>

namespace mscclc::ir {

/// The way in which a block accesses a piece of memory.
enum class Reach : std::uint8_t {
  Own,           ///< memory of the block's own rank
  MemoryChannel, ///< a remote buffer, which the block's threads load and store
  PortChannel,   ///< a remote buffer, to which a proxy sends
  SwitchChannel, ///< the buffer of a rank of a multicast group; the block's own rank is one of the group
};

/// The memory of one rank that one operand of an operation touches.
struct MemoryPiece {
  std::uint32_t rank = 0; ///< the owner of the memory
  BufferKind buffer = BufferKind::Input;
  std::uint32_t index = 0, size = 0; ///< range in chunks; for packets, in packet chunks
  std::uint32_t operand = 0;         ///< number of the operand in the operation, sources first
  Access access = Access::Read;
  DataForm form = DataForm::Plain;
  Reach reach = Reach::Own;

  bool isPacket() const { return form == DataForm::Packet; }
  bool inScratch() const { return buffer == BufferKind::Scratch; }
};

/// Returns the kind of buffer that an operand of a block of `rank` is in. It is a buffer of the rank that owns the
/// chunk.
inline BufferKind bufferOf(const Rank &rank, const Chunk &chunk) {
  switch (chunk.space) {
  case ChunkSpace::Input:
  case ChunkSpace::Output:
  case ChunkSpace::Scratch:
    break;
  case ChunkSpace::Remote:
    return rank.remoteBuffers[chunk.id].buffer;
  case ChunkSpace::Switch:
    return rank.switchChannels[chunk.id].buffer;
  }
  return static_cast<BufferKind>(chunk.space);
}

/// Returns the memory that an operand of `op` touches: operand number `operand`, which is `chunk`. An operand on a
/// switch channel touches memory of several ranks. Then the result is the memory of `rank`, which executes `op`.
inline MemoryPiece pieceOf(const Program &program, std::uint32_t rank, const Op &op, std::uint32_t operand,
                           const Chunk &chunk) {
  const Rank &r = program.ranks[rank];
  const OperandRole role = roleOf(op, operand);
  MemoryPiece piece{rank, bufferOf(r, chunk), chunk.index, chunk.size, operand, role.access, role.form, Reach::Own};
  if (chunk.space == ChunkSpace::Remote) {
    piece.rank = r.remoteBuffers[chunk.id].rank;
    piece.reach = op.channelType == ChannelType::Port ? Reach::PortChannel : Reach::MemoryChannel;
  } else if (chunk.space == ChunkSpace::Switch) {
    piece.reach = Reach::SwitchChannel;
  }
  return piece;
}

/// Calls `visit(piece)` for each piece of memory that the operand touches. An operand on a switch channel has one piece
/// on each rank of the group, in the channel's order. Any other operand has one piece.
template <typename Visit>
void forEachPiece(const Program &program, std::uint32_t rank, const Op &op, std::uint32_t operand, const Chunk &chunk,
                  Visit &&visit) {
  MemoryPiece piece = pieceOf(program, rank, op, operand, chunk);
  if (piece.reach != Reach::SwitchChannel)
    return visit(std::as_const(piece));
  for (const std::uint32_t member : program.ranks[rank].switchChannels[chunk.id].ranks) {
    piece.rank = member;
    visit(std::as_const(piece));
  }
}

/// Calls `visit(piece)` for each piece of memory that operands of `op` touch, sources first.
template <typename Visit>
void forEachMemory(const Program &program, std::uint32_t rank, const ThreadBlock &block, const Op &op, Visit &&visit) {
  const Chunk *chunks = block.chunks.data() + op.firstChunk;
  for (std::uint32_t i = 0, n = op.numChunks(); i < n; ++i)
    forEachPiece(program, rank, op, i, chunks[i], visit);
}

/// Calls `visit(piece)` for each piece of memory of the operation's own rank that operands of `op` touch, sources
/// first. For a switch channel, this is the share of the own rank.
template <typename Visit>
void forEachOwnMemory(const Program &program, std::uint32_t rank, const ThreadBlock &block, const Op &op,
                      Visit &&visit) {
  const Chunk *chunks = block.chunks.data() + op.firstChunk;
  for (std::uint32_t i = 0, n = op.numChunks(); i < n; ++i)
    if (chunks[i].space != ChunkSpace::Remote)
      visit(pieceOf(program, rank, op, i, chunks[i]));
}

} // namespace mscclc::ir
