// Which memory of its own rank an operation reads and writes: in-place aliasing resolved, packets at their scale.
#pragma once

#include "ir/memory_map.h"
#include "ir/op_semantics.h"

namespace mscclc::passes {

/// A range of a rank's memory in plain chunks. A packet holds its flags beside its data, so packet chunk k lies where
/// plain chunks 2k and 2k + 1 do.
struct MemoryRange {
  ir::BufferKind buffer;
  std::uint64_t begin, end;

  bool overlaps(const MemoryRange &other) const {
    return buffer == other.buffer && begin < other.end && other.begin < end;
  }
  friend bool operator==(const MemoryRange &, const MemoryRange &) = default;
};

/// Memory of chunks [index, index + size) of `buffer` on `rank`.
inline MemoryRange memoryOf(const ir::Program &program, std::uint32_t rank, ir::BufferKind buffer, std::uint32_t index,
                            std::uint32_t size, ir::DataForm form) {
  const std::uint64_t scale = form == ir::DataForm::Packet ? 2 : 1;
  const ir::CanonicalPlace place = ir::canonicalPlace(program, rank, buffer, index);
  return {place.buffer, place.index * scale, (std::uint64_t{place.index} + size) * scale};
}

/// Memory of a local chunk of `rank`.
inline MemoryRange memoryOf(const ir::Program &program, std::uint32_t rank, const ir::Chunk &chunk,
                            ir::DataForm form = ir::DataForm::Plain) {
  return memoryOf(program, rank, static_cast<ir::BufferKind>(chunk.space), chunk.index, chunk.size, form);
}

/// Calls `visit(role, range)` for each operand of `op` that lies in the memory of `rank`. Of a switch operand that is
/// the share of this rank: the group's buffer here.
template <typename Visit>
void forEachLocalAccess(const ir::Program &program, std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op,
                        Visit visit) {
  const ir::Chunk *chunk = block.chunks.data() + op.firstChunk;
  for (std::uint32_t i = 0, n = op.numChunks(); i < n; ++i, ++chunk) {
    if (chunk->space == ir::ChunkSpace::Remote)
      continue;
    const ir::BufferKind buffer = chunk->space == ir::ChunkSpace::Switch
                                      ? program.ranks[rank].switchChannels[chunk->id].buffer
                                      : static_cast<ir::BufferKind>(chunk->space);
    const ir::OperandRole role = ir::roleOf(op, i);
    visit(role, memoryOf(program, rank, buffer, chunk->index, chunk->size, role.form));
  }
}

} // namespace mscclc::passes
