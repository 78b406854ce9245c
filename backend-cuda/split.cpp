#include "backend-cuda/split.h"

#include "backend-cuda/diagnostics.h"
#include "ir/collectives.h"
#include "ir/op_memory.h"

#include <string>

namespace mscclc::cuda {

namespace {

using ir::Op;
using ir::OpKind;

/// True if an operand holds rows for which only another rank knows the number or the place.
bool awaitsCounts(const ir::Program &program, const ir::RowSlots &rows, const ir::OpRef &at, const Op &op) {
  const ir::ThreadBlock &block = program.ranks[at.rank].blocks[at.block];
  const auto operands = block.operands(op);
  for (std::uint32_t operand = 0; operand < operands.size(); ++operand) {
    const bool isPackedOutput =
        operands[operand].space == ir::ChunkSpace::Output && program.collective.rows == ir::RowLayout::Packed;
    for (std::uint32_t chunk = 0; chunk < operands[operand].size; ++chunk)
      if (isPackedOutput || rows.of(program, at, operand, chunk).src != at.rank)
        return true;
  }
  return false;
}

/// True if the operation reads or writes memory of another rank.
bool movesBetweenRanks(const ir::Program &program, std::uint32_t rank, const ir::ThreadBlock &block, const Op &op) {
  bool moves = false;
  ir::forEachMemory(program, rank, block, op, [&](const ir::MemoryPiece &piece) { moves |= piece.rank != rank; });
  return moves;
}

} // namespace

std::size_t operationsThatSend(const ir::Program &program, const ir::RowSlots *rows, std::uint32_t rank,
                               std::uint32_t block) {
  const std::vector<Op> &ops = program.ranks[rank].blocks[block].ops;
  const bool isCounted = rows != nullptr && ir::info(program.collective.kind).hasRows;
  const auto waits = [&](std::size_t o) {
    return ir::awaitsOthers(ops[o].kind) ||
           (isCounted && ops[o].numChunks() != 0 &&
            awaitsCounts(program, *rows, {rank, block, static_cast<std::uint32_t>(o)}, ops[o]));
  };
  for (std::size_t o = 0; o < ops.size();) {
    const std::size_t end = o + 1 + (ops[o].kind == OpKind::Pipeline ? ops[o].bodySize : 0);
    for (std::size_t inside = o; inside < end; ++inside)
      if (waits(inside))
        return o;
    o = end;
  }
  return ops.size();
}

bool checkSplit(const ir::Program &program, const ir::RowSlots *rows, ir::DiagnosticEngine &diagnostics) {
  if (!program.split)
    return true;
  const ir::Where whole(program.collective.loc, "plan '" + program.name + "'");
  if (ir::info(program.collective.kind).hasRows && program.hasPorts())
    return diagnostics.report(diag::split_counts_of_nodes, whole);
  bool sends = false;
  for (std::uint32_t r = 0; r < program.ranks.size(); ++r)
    for (std::uint32_t b = 0; b < program.ranks[r].blocks.size(); ++b) {
      const ir::ThreadBlock &block = program.ranks[r].blocks[b];
      const std::size_t cut = operationsThatSend(program, rows, r, b);
      const auto where = [&](std::size_t o) {
        return ir::Where(block.ops[o].loc, "rank " + std::to_string(r) + ", block " + std::to_string(b) +
                                               ", operation " + std::to_string(o));
      };
      for (std::size_t o = 0; o < block.ops.size(); ++o) {
        if (!movesBetweenRanks(program, r, block, block.ops[o]))
          continue;
        sends = true;
        if (o < cut)
          continue;
        diagnostics.report(diag::split_sends_late, where(o), {ir::wordOf(program, block.ops[o])})
            .note(diag::split_waits_here, where(cut), {ir::wordOf(program, block.ops[cut])});
        return false;
      }
    }
  return sends || diagnostics.report(diag::split_sends_nothing, whole);
}

} // namespace mscclc::cuda
