#include "passes/verify/deadlock.h"

#include "ir/op_memory.h"

#include <algorithm>

namespace mscclc::passes::proof {

std::vector<Stuck> DeadlockSearch::find() {
  collect();
  std::vector<Stuck> all;
  std::vector<std::uint32_t> seen(index_.numBlocks(), none), path; // seen[b]: the block where the path through b began
  for (std::uint32_t start = 0; start < index_.numBlocks(); ++start) {
    path.clear();
    std::uint32_t b = start;
    while (!control_.finished(b) && seen[b] == none) {
      seen[b] = start;
      path.push_back(b);
      const Source next = sourceOf(b);
      if (next.block == none) {
        all.push_back({{b}, {}});
        break;
      }
      b = next.block;
      if (seen[b] != start)
        continue;
      Stuck &circle = all.emplace_back();
      circle.blocks.assign(std::find(path.begin(), path.end(), b), path.end());
      for (const std::uint32_t waiting : circle.blocks)
        circle.sources.push_back(sourceOf(waiting));
      break;
    }
  }
  return all;
}

/// Collects the operations that unfinished blocks have not yet done.
void DeadlockSearch::collect() {
  for (std::uint32_t b = 0; b < index_.numBlocks(); ++b)
    if (!control_.finished(b) && control_.waiting(b).kind == Waiting::Packet)
      writers_[control_.waiting(b).id];
  for (std::uint32_t b = 0; b < index_.numBlocks(); ++b) {
    if (control_.finished(b))
      continue;
    const ir::BlockCursor &at = control_.at(b);
    const bool comesAgain = at.inLoop() && !at.isLastIteration(); // the body of the loop runs again
    for (std::uint32_t o = comesAgain ? at.header() + 1 : at.op(); o < index_.ops(b).ops.size(); ++o)
      collectFrom(b, o);
  }
}

void DeadlockSearch::collectFrom(std::uint32_t b, std::uint32_t o) {
  const ir::ThreadBlock &code = index_.ops(b);
  const ir::Op &op = code.ops[o];
  const std::uint32_t rank = index_.rankOf(b);
  if (ir::sends(op.kind))
    for (const std::uint32_t id : code.idsOf(op))
      sources_.try_emplace(ir::isSemaphoreOp(op.kind) ? key(Waiting::Semaphore, index_.semaphore(rank, id))
                                                      : key(Waiting::Channel, index_.queue(rank, op, id)),
                           Source{b, o});
  if (writers_.empty())
    return;
  ir::forEachMemory(index_.program, rank, code, op, [&](const ir::MemoryPiece &piece) {
    if (piece.access != ir::Access::Write || !piece.isPacket())
      return;
    const UnitSpan span = geometry_.span(code.chunks[op.firstChunk + piece.operand], op, nullptr, true);
    const std::uint64_t first = memory_.base(piece.rank, ir::BufferKind::Scratch, true) + span.first;
    for (std::uint32_t u = 0; u < span.count; ++u)
      if (const auto it = writers_.find(static_cast<CellId>(first + u));
          it != writers_.end() && it->second.block == none)
        it->second = {b, o};
  });
}

Source DeadlockSearch::sourceOf(std::uint32_t b) const {
  const Waiting &w = control_.waiting(b);
  if (w.kind == Waiting::Packet)
    return writers_.at(w.id);
  if (w.kind == Waiting::Barrier)
    return missingAt(w.id, b);
  const auto it = sources_.find(key(w.kind, w.id));
  return it == sources_.end() ? Source{} : it->second;
}

/// Returns the operation of another block that would arrive at the barrier at which `b` waits. That block has not
/// arrived there yet. Returns an empty source if there is no such block.
Source DeadlockSearch::missingAt(std::uint32_t barrier, std::uint32_t b) const {
  for (const std::uint32_t other : index_.barrier(barrier).blocks) {
    const auto &ops = index_.ops(other).ops;
    const bool there = control_.waiting(other).kind == Waiting::Barrier && control_.waiting(other).id == barrier;
    if (there || control_.finished(other))
      continue;
    for (std::uint32_t o = control_.at(other).op(); o < ops.size(); ++o)
      if (ops[o].kind == ir::OpKind::Barrier && ops[o].imm == index_.ops(b).ops[control_.at(b).op()].imm)
        return {other, o};
  }
  return {};
}

} // namespace mscclc::passes::proof
