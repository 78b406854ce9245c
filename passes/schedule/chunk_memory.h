// The memory of all ranks while statements are executed on it.
#pragma once

#include "ir/chunk_cells.h"
#include "passes/verify/values.h"

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

private:
  std::vector<ChunkCell> cells_;
};

} // namespace mscclc::passes::schedule
