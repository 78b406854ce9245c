#include "passes/transform/late_packets.h"

#include "ir/op_memory.h"
#include "ir/op_semantics.h"

namespace mscclc::passes {
namespace {

/// Calls `visit` with a number for each packet chunk that `op` reads, or writes.
template <class Visit>
void forEachPacket(const ir::Program &program, std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op,
                   ir::Access access, Visit &&visit) {
  ir::forEachMemory(program, rank, block, op, [&](const ir::MemoryPiece &piece) {
    if (piece.isPacket() && piece.access == access)
      for (std::uint32_t c = piece.index; c < piece.index + piece.size; ++c)
        visit(std::uint64_t{piece.rank} << 32 | c);
  });
}

/// True if it waits for what another block does in this launch. That a launch has begun is told by relaxed signals.
bool waitsForOthers(const ir::Op &op) {
  return op.kind == ir::OpKind::Barrier || ir::awaitsPackets(op.kind) ||
         (ir::takes(op.kind) && op.kind != ir::OpKind::RelaxedWait);
}

} // namespace

LatePackets::LatePackets(const ir::Program &program) : program_(program) {
  for (std::uint32_t r = 0; r < program.ranks.size(); ++r)
    for (const ir::ThreadBlock &block : program.ranks[r].blocks) {
      bool waited = false;
      for (const ir::Op &op : block.ops) {
        waited = waited || waitsForOthers(op);
        if (waited && ir::isPacketOp(op.kind))
          forEachPacket(program, r, block, op, ir::Access::Write, [&](std::uint64_t packet) { late_.insert(packet); });
      }
    }
}

bool LatePackets::isReadBy(std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op) const {
  bool found = false;
  if (!late_.empty())
    forEachPacket(program_, rank, block, op, ir::Access::Read,
                  [&](std::uint64_t packet) { found = found || late_.contains(packet); });
  return found;
}

} // namespace mscclc::passes
