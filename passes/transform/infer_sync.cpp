#include "passes/transform/infer_sync.h"

#include "passes/analysis/access_record.h"
#include "passes/analysis/remote_accesses.h"
#include "passes/op_list.h"

#include <array>

namespace mscclc::passes {
namespace {

class SyncInference {
public:
  explicit SyncInference(ir::Program &program) : program_(program) {}

  void run(std::uint32_t rank, ir::ThreadBlock &block) {
    rank_ = rank;
    block_ = &block;
    nops_.clear();
    walk(0, static_cast<std::uint32_t>(block.ops.size()), noPipeline, accesses_[0]);
    insertNops(block, nops_);
    inserted += nops_.size();
  }

  std::uint64_t inserted = 0;

private:
  /// Since the last sync. Packet operations wait for each other's packets, so what they write counts only for one that
  /// does not: a ppkt through a port.
  struct Accesses {
    AccessRecord plain, packets;
    RemoteAccesses remote; ///< of programs of statements alone
    void clear() {
      plain.clear();
      packets.clear();
      remote.clear();
    }
  };

  /// Walks [begin, end), the body of `header`, or the block.
  void walk(std::uint32_t begin, std::uint32_t end, std::uint32_t header, Accesses &seen) {
    seen.clear();
    for (std::uint32_t i = begin; i < end;) {
      const ir::Op &op = block_->ops[i];
      const std::uint32_t next = nextOp(*block_, i);
      if (ir::isBlockSync(op.kind)) {
        seen.clear();
      } else {
        if (conflicts(i, next, seen) || conflictsAway(i, next, header, seen)) {
          nops_.push_back({i, header, op.loc});
          seen.clear();
        }
        if (op.kind == ir::OpKind::Pipeline)
          walk(i + 1, next, i, accesses_[1]);
        // All of the operation's own accesses count from here, whichever of them conflicted.
        forEachAccess(i, next, [&](const ir::Op &, const ir::MemoryPiece &piece, const ir::MemoryRange &range) {
          if (!piece.isPacket())
            seen.plain.addLatest(piece.access, range);
          else if (piece.access == ir::Access::Write)
            seen.packets.addLatest(piece.access, range);
        });
        forEachAway(i, next, header,
                    [&](const ir::MemoryPiece &piece, const ir::MemoryRange &range, const ThreadShares &shares) {
                      seen.remote.add(piece.rank, piece.access, range, shares);
                    });
      }
      i = next;
    }
  }

  bool conflicts(std::uint32_t begin, std::uint32_t end, const Accesses &seen) const {
    bool found = false;
    forEachAccess(begin, end, [&](const ir::Op &op, const ir::MemoryPiece &piece, const ir::MemoryRange &range) {
      const bool unawaited = piece.isPacket() && piece.access == ir::Access::Read && !ir::awaitsPackets(op.kind);
      found = found || seen.plain.conflicts(piece.access, range) ||
              (unawaited && seen.packets.conflicts(piece.access, range));
    });
    return found;
  }

  /// The same in the memory of other ranks. A program of thread blocks says itself where they meet between two puts.
  bool conflictsAway(std::uint32_t begin, std::uint32_t end, std::uint32_t header, const Accesses &seen) const {
    bool found = false;
    forEachAway(begin, end, header,
                [&](const ir::MemoryPiece &piece, const ir::MemoryRange &range, const ThreadShares &shares) {
                  found = found || seen.remote.conflicts(piece.rank, piece.access, range, shares);
                });
    return found;
  }

  template <typename Visit>
  void forEachAway(std::uint32_t begin, std::uint32_t end, std::uint32_t header, Visit visit) const {
    if (program_.schedule != ir::Schedule::Auto)
      return;
    const ir::Op &first = block_->ops[begin];
    const std::uint32_t loop = first.kind == ir::OpKind::Pipeline ? begin : header;
    const std::uint64_t step = loop == noPipeline ? 0 : block_->ops[loop].imm;
    const bool byWords = program_.bufferAlignment % ir::wordBytes == 0 && step % ir::wordBytes == 0;
    for (std::uint32_t i = begin; i < end; ++i) {
      const ir::Op &op = block_->ops[i];
      ir::forEachMemory(program_, rank_, *block_, op, [&](const ir::MemoryPiece &piece) {
        if (piece.rank == rank_ || piece.isPacket())
          return;
        const ir::ElementUnit unit = byWords ? ir::elementUnitOf(op) : ir::ElementUnit::Other;
        visit(piece, ir::memoryOf(program_, piece),
              ThreadShares{piece.reach == ir::Reach::SwitchChannel, unit, op.groupIndex, op.groupSize, loop});
      });
    }
  }

  template <typename Visit> void forEachAccess(std::uint32_t begin, std::uint32_t end, Visit visit) const {
    for (std::uint32_t i = begin; i < end; ++i)
      ir::forEachOwnMemory(program_, rank_, *block_, block_->ops[i], [&](const ir::MemoryPiece &piece) {
        visit(block_->ops[i], piece, ir::memoryOf(program_, piece));
      });
  }

  ir::Program &program_;
  std::uint32_t rank_ = 0;
  ir::ThreadBlock *block_ = nullptr;
  std::array<Accesses, 2> accesses_; // of the block, and of the body of a pipeline
  std::vector<NopInsertion> nops_;
};

void inferSync(PassContext &context) {
  if (!context.program.autoSync)
    return;
  SyncInference inference(context.program);
  for (std::uint32_t r = 0; r < context.program.ranks.size(); ++r)
    for (ir::ThreadBlock &block : context.program.ranks[r].blocks)
      inference.run(r, block);
  context.stats.count("nops inserted", inference.inserted);
}

} // namespace

Pass createInferSyncPass() {
  return {.needs = Scheduled | DataSyncLowered, .run = inferSync};
}

} // namespace mscclc::passes
