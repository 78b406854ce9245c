#include "passes/schedule/chunk_memory.h"

#include <algorithm>

namespace mscclc::passes::schedule {

using ir::BufferKind;

std::string describe(const ir::RankChunk &chunk) {
  std::string range = std::to_string(chunk.index);
  if (chunk.size != 1)
    range += ":" + std::to_string(std::uint64_t{chunk.index} + chunk.size);
  return std::string(ir::toString(chunk.buffer)) + "[" + range + "] of rank " + std::to_string(chunk.rank);
}

std::uint64_t ChunkMemory::chunksOf(const ir::Program &program) {
  std::uint64_t chunks = 0;
  for (const ir::Rank &rank : program.ranks)
    chunks += std::uint64_t{rank.inputChunks} + rank.outputChunks + rank.scratchChunks;
  return chunks;
}

ChunkMemory::ChunkMemory(const ir::Program &program, const proof::Values &values) : program_(program) {
  std::size_t total = 0;
  for (std::uint32_t r = 0; r < program.ranks.size(); ++r) {
    std::array<std::size_t, 3> chunks{};
    for (const auto buffer : {BufferKind::Input, BufferKind::Output, BufferKind::Scratch}) {
      const ir::CanonicalPlace place = ir::canonicalPlace(program, r, buffer, 0);
      std::size_t &held = chunks[static_cast<std::size_t>(place.buffer)];
      held = std::max(held, std::size_t{place.index} + program.ranks[r].chunksOf(buffer));
    }
    auto &first = first_.emplace_back();
    for (std::size_t buffer = 0; buffer < chunks.size(); ++buffer) {
      first[buffer] = total;
      total += chunks[buffer];
    }
  }
  cells_.resize(total);
  for (std::uint32_t r = 0; r < program.ranks.size(); ++r)
    for (std::uint32_t chunk = 0; chunk < program.ranks[r].inputChunks; ++chunk)
      cells_[firstOf(r, BufferKind::Input, chunk)].value = values.input(r, chunk);
}

} // namespace mscclc::passes::schedule
