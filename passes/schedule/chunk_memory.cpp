#include "passes/schedule/chunk_memory.h"

namespace mscclc::passes::schedule {

using ir::BufferKind;

ChunkMemory::ChunkMemory(const ir::Program &program, proof::Values &values)
    : ChunkCells(program), values_(&values), cells_(size()) {
  for (std::uint32_t r = 0; r < program.ranks.size(); ++r)
    for (std::uint32_t chunk = 0; chunk < program.ranks[r].inputChunks; ++chunk)
      cells_[firstOf(r, BufferKind::Input, chunk)].value = values.input(r, chunk);
}

void ChunkMemory::partsOf(const ir::Movement &movement, const ir::Move &move, std::uint32_t i,
                          std::vector<proof::ValueId> &parts) const {
  parts.clear();
  for (const ir::RankChunk &src : movement.srcs(move))
    parts.push_back(cells_[firstOf(src) + i].value);
}

} // namespace mscclc::passes::schedule
