// The accesses of a rank's user between launches. As with NCCL, input and output belong to the user before and after
// each launch: the user reads and overwrites both. Peers may access them only after the rank has begun its launch, and
// before it has ended the launch.
#include "passes/verify/checked_run.h"

#include "ir/collectives.h"
#include "ir/memory_map.h"

namespace mscclc::passes::proof {

CheckedRun::JudgedAccess CheckedRun::userOf(std::uint32_t rank, std::uint32_t ref) {
  const View view = order_.gather(rank);
  return {{index_.block(rank, 0), view.phase, ref}, view};
}

void CheckedRun::userWrote(std::uint32_t rank, CellId id, std::uint32_t unit) {
  memory_[id].value = unit != none ? values_.input(rank, unit) : Values::unwritten;
}

/// Writes the inputs of a collective that has no user (ir::hasUser). They are there from the start.
void CheckedRun::writeInputs() {
  for (std::uint32_t r = 0; !ir::hasUser(index_.program.collective.kind) && r < index_.numRanks(); ++r) {
    const std::uint32_t units = index_.program.ranks[r].inputChunks * geometry_.unitsPerChunk();
    for (std::uint32_t u = 0; u < units; ++u)
      memory_[memory_.base(r, ir::BufferKind::Input, false) + u].value = values_.input(r, u);
  }
}

void CheckedRun::launchEnds(std::uint32_t rank) {
  if (history_ && control_.launch() == 0)
    history_->close(rank, order_.gather(rank), memory_);
}

} // namespace mscclc::passes::proof
