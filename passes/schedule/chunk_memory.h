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
  std::uint32_t writer = ir::none; ///< the last statement that wrote it
  std::uint32_t maker = ir::none;  ///< the statement that reduced its value, or applied a hook to it
};

/// The cells of all chunks of all ranks. Aliasing of buffers is resolved.
class ChunkMemory : public ir::ChunkCells {
public:
  /// Initially inputs hold themselves, and everything else is unwritten. `program` must have at most
  /// ir::ChunkCells::mostChunks chunks.
  ChunkMemory(const ir::Program &program, const proof::Values &values);

  ChunkCell &operator[](std::size_t cell) { return cells_[cell]; }
  const ChunkCell &operator[](std::size_t cell) const { return cells_[cell]; }

  /// Sets `parts` to the values of chunk `i` of each source of a statement.
  void partsOf(const ir::Movement &movement, const ir::Move &move, std::uint32_t i,
               std::vector<proof::ValueId> &parts) const;
  /// Executes a statement. combine(i) returns what chunk `i` of each destination holds afterwards. All sources are read
  /// before anything is written.
  template <typename Combine> void execute(const ir::Movement &movement, const ir::Move &move, const Combine &combine) {
    results_.clear();
    for (std::uint32_t i = 0; i < movement.places[move.firstPlace].size; ++i)
      results_.push_back(combine(i));
    for (const ir::RankChunk &dst : movement.dsts(move))
      std::ranges::copy(results_, cells_.begin() + static_cast<std::ptrdiff_t>(firstOf(dst)));
  }

private:
  std::vector<ChunkCell> cells_, results_;
};

} // namespace mscclc::passes::schedule
