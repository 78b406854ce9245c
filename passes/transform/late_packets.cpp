#include "passes/transform/late_packets.h"

#include "ir/chunk_cells.h"
#include "ir/op_memory.h"
#include "ir/op_semantics.h"

#include <algorithm>

namespace mscclc::passes {
namespace {

/// True if `op` waits for another block in this launch. Relaxed signals do not count, because they only show that a
/// launch has begun.
bool waitsForOthers(const ir::Op &op) {
  return op.kind == ir::OpKind::Barrier || ir::awaitsPackets(op.kind) ||
         (ir::takes(op.kind) && !ir::isRelaxed(op.kind));
}

} // namespace

LatePackets::LatePackets(const ir::Program &program, bool isOneRank) : program_(program), isOneRank_(isOneRank) {
  for (std::uint32_t r = 0; r < program.ranks.size(); ++r)
    for (const ir::ThreadBlock &block : program.ranks[r].blocks) {
      bool waited = false;
      for (const ir::Op &op : block.ops) {
        waited = waited || waitsForOthers(op);
        if (!waited || !ir::isPacketOp(op.kind))
          continue;
        if (late_.empty())
          late_ = ir::forScratch(program, false);
        for (std::uint32_t i = op.numSrcs; i < op.numChunks(); ++i)
          ir::forEachPiece(program, r, op, i, block.operands(op)[i], [&](const ir::MemoryPiece &piece) {
            if (piece.isPacket())
              std::fill_n(late_[isOneRank ? 0 : piece.rank].begin() + piece.index, piece.size, true);
          });
      }
    }
}

bool LatePackets::isReadBy(std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op) const {
  if (late_.empty())
    return false;
  bool found = false;
  for (std::uint32_t i = 0; i < op.numSrcs && !found; ++i)
    ir::forEachPiece(program_, rank, op, i, block.operands(op)[i], [&](const ir::MemoryPiece &piece) {
      for (std::uint32_t k = 0; piece.isPacket() && !found && k < piece.size; ++k)
        found = late_[isOneRank_ ? 0 : piece.rank][piece.index + k];
    });
  return found;
}

} // namespace mscclc::passes
