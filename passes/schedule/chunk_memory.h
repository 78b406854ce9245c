// The memory of all ranks while statements are executed on it.
#pragma once

#include "ir/chunk_cells.h"
#include "passes/verify/values.h"

#include <algorithm>
#include <vector>

namespace mscclc::passes::schedule {

/// One chunk.
struct ChunkCell {
  proof::ValueId value = proof::Values::unwritten;
  std::uint32_t writer = ir::none; ///< the last statement that wrote the chunk
  std::uint32_t maker = ir::none;  ///< the statement that made its value, by a reduction or a hook
};

/// The cells of all chunks of all ranks. Aliasing of buffers is resolved.
class ChunkMemory : public ir::ChunkCells {
public:
  /// Initially each input chunk holds its own value, and all other chunks are unwritten. `program` must have at most
  /// ir::ChunkCells::mostChunks chunks. `values` converts values to the form in which scratch holds them.
  ChunkMemory(const ir::Program &program, proof::Values &values);

  ChunkCell &operator[](std::size_t cell) { return cells_[cell]; }
  const ChunkCell &operator[](std::size_t cell) const { return cells_[cell]; }

  /// Sets `parts` to the values of chunk `i` of each source of a statement.
  void partsOf(const ir::Movement &movement, const ir::Move &move, std::uint32_t i,
               std::vector<proof::ValueId> &parts) const;
  /// Executes a statement. combine(i) returns the new value of chunk `i` of each destination. Scratch may hold this
  /// value encoded. All sources are read before anything is written.
  template <typename Combine> void execute(const ir::Movement &movement, const ir::Move &move, const Combine &combine) {
    results_.clear();
    for (std::uint32_t i = 0; i < movement.places[move.firstPlace].size; ++i)
      results_.push_back(combine(i));
    const bool isMoved = move.kind == ir::MoveKind::Copy && movement.srcs(move)[0].buffer == ir::BufferKind::Scratch;
    for (const ir::RankChunk &dst : movement.dsts(move)) {
      ChunkCell *const cells = &cells_[firstOf(dst)];
      std::ranges::copy(results_, cells);
      if (dst.buffer == ir::BufferKind::Scratch)
        for (std::size_t i = 0; i < results_.size(); ++i)
          cells[i].value = values_->inScratch(cells[i].value, isMoved);
    }
  }

private:
  proof::Values *values_;
  std::vector<ChunkCell> cells_, results_;
};

} // namespace mscclc::passes::schedule
