#include "ir/chunk_cells.h"

#include "ir/diagnostics.h"

#include <algorithm>

namespace mscclc::ir {

std::string describeRanks(std::span<const std::uint32_t> ranks) {
  if (ranks.size() == 1)
    return "rank " + std::to_string(ranks[0]);
  const std::size_t last = ranks.size() - 1;
  std::string text = "ranks " + std::to_string(ranks[0]);
  if (last >= 2 && ranks[last] - ranks[0] == last)
    return text + " to " + std::to_string(ranks[last]);
  if (last > 5)
    return text + " and " + plural(last, "further rank") + " up to " + std::to_string(ranks[last]);
  for (std::size_t i = 1; i < last; ++i)
    text += ", " + std::to_string(ranks[i]);
  return text + " and " + std::to_string(ranks[last]);
}

std::string describe(const RankChunk &chunk) {
  return describe(chunk, {&chunk.rank, 1});
}

std::string describe(const RankChunk &chunk, std::span<const std::uint32_t> ranks) {
  std::string range = std::to_string(chunk.index);
  if (chunk.size != 1)
    range += ":" + std::to_string(std::uint64_t{chunk.index} + chunk.size);
  return std::string(toString(chunk.buffer)) + "[" + range + "] of " + describeRanks(ranks);
}

std::uint64_t ChunkCells::chunksOf(const Program &program) {
  std::uint64_t chunks = 0;
  for (const Rank &rank : program.ranks)
    chunks += std::uint64_t{rank.inputChunks} + rank.outputChunks + rank.scratchChunks;
  return chunks;
}

ChunkCells::ChunkCells(const Program &program) : program_(program) {
  for (std::uint32_t r = 0; r < program.ranks.size(); ++r) {
    std::array<std::size_t, 3> chunks{};
    for (const auto buffer : {BufferKind::Input, BufferKind::Output, BufferKind::Scratch}) {
      const CanonicalPlace place = canonicalPlace(program, r, buffer, 0);
      std::size_t &held = chunks[static_cast<std::size_t>(place.buffer)];
      held = std::max(held, std::size_t{place.index} + program.ranks[r].chunksOf(buffer));
    }
    auto &first = first_.emplace_back();
    for (std::size_t buffer = 0; buffer < chunks.size(); ++buffer) {
      first[buffer] = size_;
      size_ += chunks[buffer];
    }
  }
}

} // namespace mscclc::ir
