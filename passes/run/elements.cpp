#include "passes/run/elements.h"

#include "ir/op_memory.h"
#include "passes/op_list.h"

namespace mscclc::passes::proof {

/// The beginning and the length of an operand, which determine the thread of each element.
struct Elements::Share {
  CellId first = 0;
  std::uint32_t count = 0, chunks = 0;
  std::uint32_t groupIndex = 0, groupSize = 0;
  std::uint32_t loop = none;
  bool operator==(const Share &) const = default;
};

/// Returns the header of the pipeline that contains operation `o`, or `none`.
std::uint32_t Elements::loopOf(std::uint32_t b, std::uint32_t o) const {
  static_assert(none == noPipeline);
  return geometry_.mostIterations() == 0 ? none : pipelineAround(index_.ops(b), o);
}

Elements::Share Elements::shareOf(std::uint32_t b, const Operand &operand, std::uint32_t header,
                                  const LoopSlice *slice) const {
  const ir::ThreadBlock &code = index_.ops(b);
  const ir::Op &op = code.ops[operand.op];
  const ir::Chunk &chunk = code.chunks[operand.ref];
  const std::uint32_t loop = loopOf(b, operand.op);
  const bool inLoop = loop != none && loop == header; // shares of a pipeline that has ended differ in Share::loop
  // A multicast accesses the same element on all ranks, so the element of the own rank is used.
  const ir::MemoryPiece piece = ir::pieceOf(index_.program, index_.rankOf(b), op, operand.ref - op.firstChunk, chunk);
  const UnitSpan span = geometry_.span(chunk, op, inLoop ? slice : nullptr, piece.inScratch());
  const std::uint64_t first = memory_.base(piece.rank, piece.buffer, piece.isPacket()) + span.first;
  return {static_cast<CellId>(first), span.count, chunk.size, op.groupIndex, op.groupSize, loop};
}

bool Elements::sameThread(std::uint32_t b, const Operand &before, const Operand &now, std::uint32_t header,
                          const LoopSlice *slice) const {
  if (before.ref == now.ref)
    return true;
  if (before.op == now.op) // in one operation, equal beginnings are enough
    return shareOf(b, before, header, slice).first == shareOf(b, now, header, slice).first;
  return byWords(b, before, now) && shareOf(b, before, header, slice) == shareOf(b, now, header, slice);
}

bool Elements::sameShares(std::uint32_t b, const Operand &before, const Operand &now) const {
  Share first = shareOf(b, before, none, nullptr);
  const Share second = shareOf(b, now, none, nullptr);
  first.first = second.first;
  return byWords(b, before, now) && first == second;
}

/// True if both operations divide their elements into words. Then operands of equal length are divided in the same way.
bool Elements::byWords(std::uint32_t b, const Operand &before, const Operand &now) const {
  const ir::ThreadBlock &code = index_.ops(b);
  const auto bySwitch = [&](const Operand &o) { return code.chunks[o.ref].space == ir::ChunkSpace::Switch; };
  if (bySwitch(before) != bySwitch(now))
    return false;
  const ir::ElementUnit unit = ir::elementUnitOf(code.ops[before.op]);
  const std::uint32_t loop = loopOf(b, now.op);
  const std::uint64_t unitBytes = loop == none ? 0 : code.ops[loop].imm;
  const bool aligned = index_.program.bufferAlignment % ir::wordBytes == 0 && unitBytes % ir::wordBytes == 0;
  return aligned && unit != ir::ElementUnit::Other && unit == ir::elementUnitOf(code.ops[now.op]);
}

} // namespace mscclc::passes::proof
