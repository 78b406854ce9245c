// Which thread of a block treats which element. Threads share a data operation out by element, one after the other, and
// run operations in the block's order: so two accesses of one element by one thread need no sync between them.
#include "passes/verify/machine.h"

#include "ir/op_memory.h"
#include "passes/op_list.h"

namespace mscclc::passes::proof {

/// Where an operand begins, and how much of it there is, decides which thread treats which of its elements.
struct Machine::ElementShare {
  CellId first = 0;
  std::uint32_t count = 0, chunks = 0;
  std::uint32_t groupIndex = 0, groupSize = 0;
  std::uint32_t loop = none;
  bool operator==(const ElementShare &) const = default;
};

/// The header of the pipeline that operation `o` is in, or `none`.
std::uint32_t Machine::loopOf(std::uint32_t b, std::uint32_t o) const {
  static_assert(none == noPipeline);
  return geometry_.mostIterations() == 0 ? none : pipelineAround(*blocks_[b].code, o);
}

Machine::ElementShare Machine::shareOf(std::uint32_t b, std::uint32_t o, std::uint32_t ref) const {
  const BlockState &s = blocks_[b];
  const ir::Op &op = s.code->ops[o];
  const ir::Chunk &chunk = s.code->chunks[ref];
  const std::uint32_t loop = loopOf(b, o);
  const bool inLoop =
      loop != none && loop == s.at.header(); // of a pipeline that has ended, its header sets the share apart
  // Of a multicast, one element of all ranks: the own rank's tells.
  const ir::MemoryPiece piece = ir::pieceOf(index_.program, s.rank, op, ref - op.firstChunk, chunk);
  const UnitSpan span = geometry_.span(chunk, op, inLoop ? &s.slice : nullptr, piece.inScratch());
  const std::uint64_t first = memory_.base(piece.rank, piece.buffer, piece.isPacket()) + span.first;
  return {static_cast<CellId>(first), span.count, chunk.size, op.groupIndex, op.groupSize, loop};
}

/// True if one thread makes both accesses, 'a' before 'b', which is the operation's in progress, and in that order: of
/// two operations, it does not hold between multicast addresses and a memory's own.
bool Machine::sameElement(const Epoch &a, const Epoch &b) const {
  if (a.agent != b.agent || a.phase != b.phase || a.isPut() || a.isUser() || b.isUser() || !currentOp_)
    return false;
  if (a.ref == b.ref)
    return true;
  const std::uint32_t now = blocks_[b.agent].at.op();
  if (a.ref - currentOp_->firstChunk < currentOp_->numChunks()) // one operation: both ranges begin at the same place
    return shareOf(b.agent, now, a.ref).first == shareOf(b.agent, now, b.ref).first;
  const auto bySwitch = [&](std::uint32_t ref) {
    return blocks_[b.agent].code->chunks[ref].space == ir::ChunkSpace::Switch;
  };
  if (bySwitch(a.ref) != bySwitch(b.ref))
    return false;
  const std::uint32_t before = opOf(a);
  const ir::Op &op = blocks_[b.agent].code->ops[before];
  const ir::ElementUnit unit = ir::elementUnitOf(op);
  const std::uint32_t loop = loopOf(b.agent, now);
  const std::uint64_t unitBytes = loop == none ? 0 : blocks_[b.agent].code->ops[loop].imm;
  const bool byWords = index_.program.bufferAlignment % ir::wordBytes == 0 && unitBytes % ir::wordBytes == 0;
  return byWords && unit != ir::ElementUnit::Other && unit == ir::elementUnitOf(*currentOp_) &&
         shareOf(b.agent, before, a.ref) == shareOf(b.agent, now, b.ref);
}

} // namespace mscclc::passes::proof
