#include "passes/transform/drop_redundant_sync.h"

#include "ir/containers.h"
#include "passes/analysis/access_record.h"
#include "passes/op_list.h"

#include <algorithm>

namespace mscclc::passes {
namespace {

using ir::Op;
using ir::OpKind;

bool acquires(OpKind kind) {
  return ir::takes(kind) || ir::flushes(kind);
}

/// The operations between two syncs of a block. Records the facts about them that decide whether a later operation must
/// wait for them.
class Phase {
public:
  Phase(const ir::Program &program) : program_(program) {}

  void start(std::uint32_t rank, const ir::ThreadBlock &block) {
    rank_ = rank;
    block_ = &block;
    clear();
  }
  void clear() {
    empty_ = true;
    moves_ = acquires_ = opaque_ = false;
    local_.clear();
    remote_.clear();
    for (auto &byType : users_)
      for (ir::StampSet &users : byType)
        users.clear();
  }
  bool empty() const { return empty_; }

  void add(const Op &op) {
    empty_ = false;
    opaque_ |= op.kind == OpKind::Pipeline;
    moves_ |= op.numChunks() != 0;
    acquires_ |= acquires(op.kind);
    forEachAccess(op, [this](bool remote, ir::Access access, const ir::MemoryRange &range) {
      (remote ? remote_ : local_).add(access, range);
    });
    if (ir::oneThreadPerPosition(op))
      for (const std::uint32_t id : block_->idsOf(op))
        users(op).insert(id);
  }

  /// True if an operation of this phase must be complete before `op` begins.
  bool mustPrecede(const Op &op) {
    if (empty_)
      return false;
    if (opaque_ || op.kind == OpKind::Pipeline)
      return true;
    const bool released = ir::sends(op.kind);
    if ((moves_ && released) || (acquires_ && (released || op.numChunks() != 0)))
      return true;
    // Two threads that use the same end of a channel, or the same semaphore, at the same time would disturb its count.
    if (ir::oneThreadPerPosition(op) &&
        std::ranges::any_of(block_->idsOf(op), [&](std::uint32_t id) { return users(op).contains(id); }))
      return true;
    if (!moves_)
      return false;
    bool conflict = false;
    forEachAccess(op, [&](bool remote, ir::Access access, const ir::MemoryRange &range) {
      conflict = conflict || (remote ? remote_ : local_).conflicts(access, range);
    });
    return conflict;
  }

private:
  /// Visits the accesses of an operation to this rank's memory, and those to memory of other ranks. Other ranks are not
  /// distinguished from each other.
  template <typename Visit> void forEachAccess(const Op &op, Visit visit) const {
    ir::forEachMemory(program_, rank_, *block_, op, [&](const ir::MemoryPiece &piece) {
      const ir::MemoryRange range = ir::memoryOf(program_, piece);
      if (piece.rank == rank_)
        visit(false, piece.access, range);
      if (piece.reach != ir::Reach::Own)
        visit(true, piece.access, range);
    });
  }

  ir::StampSet &users(const Op &op) { return users_[ir::takes(op.kind)][static_cast<std::size_t>(op.channelType)]; }

  const ir::Program &program_;
  std::uint32_t rank_ = 0;
  const ir::ThreadBlock *block_ = nullptr;
  bool empty_ = true, moves_ = false, acquires_ = false, opaque_ = false;
  AccessRecord local_, remote_;
  std::array<ir::StampSet, 4> users_[2]; ///< [takes][channel type; None: semaphores]: the ids in use
};

/// Appends to `redundant` the nops of `block` that order nothing.
void collect(const ir::ThreadBlock &block, Phase &phase, std::vector<std::uint32_t> &redundant) {
  const auto end = static_cast<std::uint32_t>(block.ops.size());
  std::uint32_t lastNop = end;
  while (lastNop != 0 && block.ops[lastNop - 1].kind != OpKind::Nop)
    --lastNop; // operations after the last nop need no check
  for (std::uint32_t i = 0; i < lastNop;) {
    const Op &op = block.ops[i];
    std::uint32_t next = nextOp(block, i);
    if (op.kind == OpKind::Barrier) {
      phase.clear();
    } else if (op.kind != OpKind::Nop) {
      phase.add(op);
      for (std::uint32_t k = i + 1; k + 1 < next; ++k) // finds a nop of a body that another sync of the body follows
        if (block.ops[k].kind == OpKind::Nop && ir::isBlockSync(block.ops[k + 1].kind))
          redundant.push_back(k);
    } else {
      bool needed = false;
      std::uint32_t k = next;
      for (; k < end && !ir::isBlockSync(block.ops[k].kind); k = nextOp(block, k))
        needed = needed || phase.mustPrecede(block.ops[k]);
      if (needed)
        phase.clear();
      else
        redundant.push_back(i);
    }
    i = next;
  }
}

void dropRedundantSync(PassContext &context) {
  Phase phase(context.program);
  std::vector<std::uint32_t> redundant;
  std::uint64_t removed = 0;
  for (std::uint32_t r = 0; r < context.program.ranks.size(); ++r)
    for (ir::ThreadBlock &block : context.program.ranks[r].blocks) {
      redundant.clear();
      phase.start(r, block);
      collect(block, phase, redundant);
      removeOps(block, redundant);
      removed += redundant.size();
    }
  context.stats.count("nops removed", removed);
}

} // namespace

Pass createDropRedundantSyncPass() {
  return {.needs = Scheduled | DataSyncLowered, .isOptional = true, .run = dropRedundantSync};
}

} // namespace mscclc::passes
