#include "passes/transform/late_packets.h"

#include "ir/op_memory.h"
#include "ir/op_semantics.h"

namespace mscclc::passes {
namespace {

/// True if it waits for another block in this launch. Relaxed signals only mean that a launch has begun.
bool waitsForOthers(const ir::Op &op) {
  return op.kind == ir::OpKind::Barrier || ir::awaitsPackets(op.kind) ||
         (ir::takes(op.kind) && !ir::isRelaxed(op.kind));
}

} // namespace

LatePackets::LatePackets(const ir::Program &program, bool isOneRank) : program_(program), isOneRank_(isOneRank) {
  std::uint64_t packets = 0;
  for (const ir::Rank &rank : program.ranks) {
    firstOf_.push_back(packets);
    packets += rank.scratchChunks;
  }
  for (std::uint32_t r = 0; r < program.ranks.size(); ++r)
    for (const ir::ThreadBlock &block : program.ranks[r].blocks) {
      bool waited = false;
      for (const ir::Op &op : block.ops) {
        waited = waited || waitsForOthers(op);
        if (!waited || !ir::isPacketOp(op.kind))
          continue;
        late_.resize(packets);
        for (std::uint32_t i = op.numSrcs; i < op.numChunks(); ++i)
          ir::forEachPiece(program, r, op, i, block.operands(op)[i], [&](const ir::MemoryPiece &piece) {
            const std::uint64_t first = firstOf(piece.rank) + piece.index;
            for (std::uint32_t k = 0; piece.isPacket() && k < piece.size; ++k)
              late_[first + k] = true;
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
      const std::uint64_t first = firstOf(piece.rank) + piece.index;
      for (std::uint32_t k = 0; piece.isPacket() && !found && k < piece.size; ++k)
        found = late_[first + k];
    });
  return found;
}

} // namespace mscclc::passes
