#include "passes/schedule/chunk_memory.h"

namespace mscclc::passes::schedule {

using ir::BufferKind;

ChunkMemory::ChunkMemory(const ir::Program &program, const proof::Values &values)
    : ChunkCells(program), cells_(size()) {
  for (std::uint32_t r = 0; r < program.ranks.size(); ++r)
    for (std::uint32_t chunk = 0; chunk < program.ranks[r].inputChunks; ++chunk)
      cells_[firstOf(r, BufferKind::Input, chunk)].value = values.input(r, chunk);
}

} // namespace mscclc::passes::schedule
