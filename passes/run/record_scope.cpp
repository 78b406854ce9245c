#include "passes/run/record_scope.h"

#include "ir/op_memory.h"

#include <algorithm>

namespace mscclc::passes::prune {

namespace {

/// Calls visit(piece, first cell, count) for all cells that data operation `op` of a block of `rank` accesses, in all
/// iterations.
template <typename Visit>
void forCells(const ProgramIndex &index, const proof::Geometry &geometry, const proof::Memory &memory,
              std::uint32_t rank, const ir::ThreadBlock &code, const ir::Op &op, Visit visit) {
  for (std::uint32_t i = 0; i < op.numChunks(); ++i) {
    const ir::Chunk &chunk = code.chunks[op.firstChunk + i];
    const auto [first, count] = geometry.span(chunk, op, nullptr, false);
    // If scratch wraps, slices may begin before the operand does.
    const std::uint64_t start = geometry.wraps() ? std::uint64_t{chunk.index} * geometry.unitsPerChunk() : first;
    ir::forEachPiece(index.program, rank, op, i, chunk, [&](const ir::MemoryPiece &piece) {
      visit(piece, memory.base(piece.rank, piece.buffer, piece.isPacket()) + start, first + count - start);
    });
  }
}

} // namespace

RecordScope::RecordScope(const ProgramIndex &index, const proof::Geometry &geometry, const proof::Memory &memory,
                         bool ofFirstRank, bool sizesChange)
    : ofFirstRank_(ofFirstRank) {
  if (!ofFirstRank)
    return;
  findTouched(index, geometry, memory);
  findConcerned(index, geometry, memory, sizesChange);
}

void RecordScope::findTouched(const ProgramIndex &index, const proof::Geometry &geometry, const proof::Memory &memory) {
  touched_.assign(std::size_t{3} * index.numRanks(), {none, 0});
  writtenScratch_.assign(index.numRanks(), false);
  for (std::uint32_t b = index.block(0, 0); b < index.block(1, 0); ++b)
    for (const ir::Op &op : index.ops(b).ops)
      forCells(index, geometry, memory, 0, index.ops(b), op,
               [&](const ir::MemoryPiece &piece, std::uint64_t first, std::uint64_t count) {
                 Cells &cells = touched_[areaOf(piece.rank, piece.inScratch(), piece.isPacket())];
                 cells = {std::min(cells.first, first), std::max(cells.end, first + count)};
                 if (piece.inScratch() && piece.access != ir::Access::Read)
                   writtenScratch_[piece.rank] = true;
               });
  touched_[areaOf(0, false, false)] = {0, none}; // the user of rank 0 accesses its whole input and output
}

void RecordScope::findConcerned(const ProgramIndex &index, const proof::Geometry &geometry, const proof::Memory &memory,
                                bool sizesChange) {
  for (std::uint32_t b = 0; b < index.numBlocks(); ++b) {
    const std::uint32_t rank = index.rankOf(b);
    firstOp_.push_back(static_cast<std::uint32_t>(concerned_.size()));
    for (const ir::Op &op : index.ops(b).ops) {
      bool concerned = rank == 0 || ir::isPacketOp(op.kind);
      if (!concerned && op.numChunks() != 0)
        forCells(index, geometry, memory, rank, index.ops(b), op,
                 [&](const ir::MemoryPiece &piece, std::uint64_t first, std::uint64_t count) {
                   const Cells &cells = touched_[areaOf(piece.rank, piece.inScratch(), piece.isPacket())];
                   concerned = concerned || (first < cells.end && first + count > cells.first) ||
                               (sizesChange && piece.inScratch() && asksOfScratch(piece.rank));
                 });
      concerned_.push_back(concerned);
    }
  }
}

RecordScope::Cells RecordScope::cut(std::uint32_t rank, bool scratch, bool packet, std::uint64_t first,
                                    std::uint64_t count) const {
  if (!ofFirstRank_)
    return {first, first + count};
  const Cells &cells = touched_[areaOf(rank, scratch, packet)];
  const std::uint64_t begin = std::max(first, cells.first);
  return {begin, std::max(begin, std::min(first + count, cells.end))};
}

} // namespace mscclc::passes::prune
