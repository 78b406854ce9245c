// The memory of all ranks while statements are executed on it.
#pragma once

#include "ir/memory_map.h"
#include "passes/verify/values.h"

#include <string>
#include <vector>

namespace mscclc::passes::schedule {

/// "output[3] of rank 2", "output[3:5] of rank 2".
std::string describe(const ir::RankChunk &chunk);

/// One chunk.
struct ChunkCell {
  proof::ValueId value = proof::Values::unwritten;
  std::uint32_t writer = ir::none; ///< the statement that wrote it last
  std::uint32_t maker = ir::none;  ///< the statement that reduced what it holds
};

class ChunkMemory {
public:
  /// More than this take more than a gigabyte.
  static constexpr std::uint64_t mostChunks = std::uint64_t{1} << 26;
  /// Chunks of all buffers of all ranks.
  static std::uint64_t chunksOf(const ir::Program &program);

  /// Inputs hold themselves, all else is unwritten. `program` has at most `mostChunks`.
  ChunkMemory(const ir::Program &program, const proof::Values &values);

  /// Number of the cell of the first chunk of a place; those of its other chunks follow. In place, buffers share cells.
  std::size_t firstOf(std::uint32_t rank, ir::BufferKind buffer, std::uint32_t index = 0) const {
    const ir::CanonicalPlace place = ir::canonicalPlace(program_, rank, buffer, index);
    return first_[rank][static_cast<std::size_t>(place.buffer)] + place.index;
  }
  std::size_t firstOf(const ir::RankChunk &chunk) const { return firstOf(chunk.rank, chunk.buffer, chunk.index); }
  ChunkCell &operator[](std::size_t cell) { return cells_[cell]; }
  const ChunkCell &operator[](std::size_t cell) const { return cells_[cell]; }

private:
  const ir::Program &program_;
  std::vector<std::array<std::size_t, 3>> first_; ///< [rank][canonical buffer]
  std::vector<ChunkCell> cells_;
};

} // namespace mscclc::passes::schedule
