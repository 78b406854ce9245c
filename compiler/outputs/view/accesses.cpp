#include "compiler/outputs/view/accesses.h"

#include "ir/memory_map.h"
#include "ir/op_shapes.h"

namespace mscclc::driver {

ShownAccesses accessesOf(const ir::Program &program, std::uint32_t rank, const ir::ThreadBlock &block,
                         const ir::Op &op) {
  ShownAccesses accesses;
  accesses.pairwise = ir::shapeOf(op.kind).pairwise;
  ir::forEachMemory(program, rank, block, op, [&](const ir::MemoryPiece &piece) {
    const ir::CanonicalPlace place = ir::canonicalPlace(program, piece);
    const bool isPacket = piece.isPacket() && piece.inScratch();
    (piece.access == ir::Access::Read ? accesses.reads : accesses.writes)
        .push_back({piece.rank, isPacket ? ShownBuffer::Packets : static_cast<ShownBuffer>(place.buffer), place.index,
                    piece.size});
  });
  return accesses;
}

ShownChunks inputOf(const ir::Program &program, std::uint32_t rank) {
  const ir::CanonicalPlace place = ir::canonicalPlace(program, rank, ir::BufferKind::Input, 0);
  return {rank, static_cast<ShownBuffer>(place.buffer), place.index, program.ranks[rank].inputChunks};
}

} // namespace mscclc::driver
