// Numbers the chunks of all ranks, so that code that follows data keeps one entry for each chunk in memory.
#pragma once

#include "ir/memory_map.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mscclc::ir {

/// Returns `ranks` in words: "rank 1", "ranks 1, 2 and 5", "ranks 1 to 7", "ranks 1 and 8 further ranks up to 17".
/// There is at least one rank, and they are in ascending order.
std::string describeRanks(std::span<const std::uint32_t> ranks);
/// Returns "output[3] of rank 2" or "output[3:5] of rank 2".
std::string describe(const RankChunk &chunk);
/// Returns "output[3] of ranks 0 and 2": the same chunks of each of `ranks`.
std::string describe(const RankChunk &chunk, std::span<const std::uint32_t> ranks);

/// Returns a table [rank][chunk] with `value` for each chunk of scratch.
template <typename T> std::vector<std::vector<T>> forScratch(const Program &program, T value) {
  std::vector<std::vector<T>> values;
  for (const Rank &rank : program.ranks)
    values.emplace_back(rank.scratchChunks, value);
  return values;
}

/// Numbers the chunks of memory. The number of a chunk is its cell. In place, input and output share cells.
class ChunkCells {
public:
  /// The most chunks for which code that follows data takes at most a gigabyte.
  static constexpr std::uint64_t mostChunks = std::uint64_t{1} << 26;

  /// Uses the buffers and the collective of `program`, which must outlive this.
  explicit ChunkCells(const Program &program);

  /// Returns the number of chunks of all buffers of all ranks. It is at least the number of cells, because chunks of
  /// input and output that share memory count twice.
  static std::uint64_t chunksOf(const Program &program);

  std::size_t size() const { return size_; }
  /// Returns the cell of the first chunk of a place. The cells of its other chunks follow.
  std::size_t firstOf(std::uint32_t rank, BufferKind buffer, std::uint32_t index = 0) const {
    const CanonicalPlace place = canonicalPlace(program_, rank, buffer, index);
    return first_[rank][static_cast<std::size_t>(place.buffer)] + place.index;
  }
  std::size_t firstOf(const RankChunk &chunk) const { return firstOf(chunk.rank, chunk.buffer, chunk.index); }

private:
  const Program &program_;
  std::vector<std::array<std::size_t, 3>> first_; ///< [rank][canonical buffer]
  std::size_t size_ = 0;
};

} // namespace mscclc::ir
