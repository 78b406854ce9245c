#include "passes/transform/infer_sync.h"

#include "passes/analysis/access_record.h"
#include "passes/analysis/remote_accesses.h"
#include "passes/op_list.h"

#include <algorithm>
#include <array>
#include <utility>

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
  /// An access of the current operation, or of its body, to memory of its own rank.
  struct Touch {
    ir::MemoryRange range;
    ir::Access access;
    bool isPacket;
    bool isUnawaited; ///< the operation reads packets without waiting for them
  };
  /// An access of the current operation to memory of another rank.
  struct AwayTouch {
    std::uint32_t rank;
    ir::Access access;
    ir::MemoryRange range;
    ThreadShares shares;
  };
  /// The accesses since the last sync. Writes of packets are recorded separately. Most operations wait for the packets
  /// that they read, so such a write only conflicts with a read that does not wait: that of a ppkt through a port.
  struct Accesses {
    AccessRecord plain, packets;
    RemoteAccesses remote; ///< accesses to memory of other ranks; only in programs of statements
    // Accesses of the current operation.
    std::vector<Touch> own;
    std::vector<AwayTouch> away;
    void clear() {
      plain.clear();
      packets.clear();
      remote.clear();
    }
  };

  /// Walks through the operations [begin, end). They are the body of `header`, or the whole block.
  void walk(std::uint32_t begin, std::uint32_t end, std::uint32_t header, Accesses &seen) {
    seen.clear();
    for (std::uint32_t i = begin; i < end;) {
      const ir::Op &op = block_->ops[i];
      const std::uint32_t next = nextOp(*block_, i);
      if (ir::isBlockSync(op.kind)) {
        seen.clear();
      } else if (next != i + 1 || op.numChunks() != 0) {
        collect(i, next, header, seen);
        if (conflicts(seen)) {
          nops_.push_back({i, header, op.loc});
          seen.clear();
        }
        if (op.kind == ir::OpKind::Pipeline)
          walk(i + 1, next, i, accesses_[1]);
        // From here on, all accesses of the operation count, even if only one of them conflicted.
        for (const Touch &touch : seen.own)
          if (!touch.isPacket)
            seen.plain.addLatest(touch.access, touch.range);
          else if (touch.access == ir::Access::Write)
            seen.packets.addLatest(touch.access, touch.range);
        for (const AwayTouch &touch : seen.away)
          seen.remote.add(touch.rank, touch.access, touch.range, touch.shares);
      }
      i = next;
    }
  }

  bool conflicts(const Accesses &seen) const {
    return std::ranges::any_of(seen.own,
                               [&](const Touch &touch) {
                                 return seen.plain.conflicts(touch.access, touch.range) ||
                                        (touch.isUnawaited && seen.packets.conflicts(touch.access, touch.range));
                               }) ||
           std::ranges::any_of(seen.away, [&](const AwayTouch &touch) {
             return seen.remote.conflicts(touch.rank, touch.access, touch.range, touch.shares);
           });
  }

  /// Collects the accesses of [begin, end), which is an operation with its body. Includes accesses to memory of other
  /// ranks only in programs of statements. A program of thread blocks has its own sync for these.
  void collect(std::uint32_t begin, std::uint32_t end, std::uint32_t header, Accesses &seen) const {
    seen.own.clear();
    seen.away.clear();
    const bool isAuto = program_.schedule == ir::Schedule::Auto;
    const std::uint32_t loop = block_->ops[begin].kind == ir::OpKind::Pipeline ? begin : header;
    const std::uint64_t step = loop == noPipeline ? 0 : block_->ops[loop].imm;
    const bool byWords = program_.bufferAlignment % ir::wordBytes == 0 && step % ir::wordBytes == 0;
    for (std::uint32_t i = begin; i < end; ++i) {
      const ir::Op &op = block_->ops[i];
      const auto addOwn = [&](const ir::MemoryPiece &piece) {
        const bool isUnawaited = piece.isPacket() && piece.access == ir::Access::Read && !ir::awaitsPackets(op.kind);
        seen.own.push_back({ir::memoryOf(program_, piece), piece.access, piece.isPacket(), isUnawaited});
      };
      ir::forEachOwnMemory(program_, rank_, *block_, op, addOwn);
      if (!isAuto)
        continue;
      const ir::ElementUnit unit = byWords ? ir::elementUnitOf(op) : ir::ElementUnit::Other;
      const auto addAway = [&](const ir::MemoryPiece &piece) {
        if (piece.rank == rank_ || piece.isPacket())
          return;
        seen.away.push_back({piece.rank,
                             piece.access,
                             ir::memoryOf(program_, piece),
                             {piece.reach == ir::Reach::SwitchChannel, unit, op.groupIndex, op.groupSize, loop}});
      };
      const std::span<const ir::Chunk> operands = std::as_const(*block_).operands(op);
      for (std::uint32_t k = 0; k < operands.size(); ++k)
        if (!ir::isLocal(operands[k].space))
          ir::forEachPiece(program_, rank_, op, k, operands[k], addAway);
    }
  }

  ir::Program &program_;
  std::uint32_t rank_ = 0;
  ir::ThreadBlock *block_ = nullptr;
  std::array<Accesses, 2> accesses_; // the accesses of the block, and those of the current pipeline's body
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
