// What a rank's user does between its launches. As with NCCL, input and output are the user's before and after each: it
// reads and overwrites both. Peers may touch them only once the rank has begun its launch, and no more when it has
// ended.
#include "passes/verify/machine.h"

#include "ir/collectives.h"
#include "ir/memory_map.h"

namespace mscclc::passes::proof {

void Machine::userOverwrites(std::uint32_t rank) {
  const View view = order_.gather(rank);
  const Epoch by{index_.block(rank, 0), view.phase, Epoch::userWrite};
  memory_.forUserCells(rank, [&](CellId id, std::uint32_t input) {
    Cell &cell = memory_[id];
    checkWrite(id, by, view, false);
    stillSent_.clear(); // overwriting these is the user's risk, but later writes of the program are its own
    memory_.forReads(cell, [&](const Epoch &reader) {
      if (reader.isPut() && !order_.before(reader, false, view, Relation::HappensBefore))
        stillSent_.push_back(reader);
    });
    memory_.setWrite(cell, control_.launch() == 0 ? by : Epoch{});
    for (const Epoch &reader : stillSent_)
      memory_.addRead(cell, reader);
    if (control_.launch() == 0)
      cell.value = input != none ? values_.input(rank, input) : Values::unwritten;
  });
}

void Machine::userReads(std::uint32_t rank) {
  const View view = order_.gather(rank);
  const Epoch by{index_.block(rank, 0), view.phase, Epoch::userRead};
  memory_.forUserCells(rank, [&](CellId id, std::uint32_t) {
    Cell &cell = memory_[id];
    if (cell.write.exists() && !order_.before(cell.write, true, view, Relation::Visibility)) {
      report(id, cell.write, true, by, false, view);
      cell.write = by; // said once
    }
    memory_.addRead(cell, by);
  });
}

/// A test has no user: there, inputs are there from the start.
void Machine::writeInputs() {
  for (std::uint32_t r = 0; !ir::hasUser(index_.program.collective.kind) && r < index_.numRanks(); ++r) {
    const std::uint32_t units = index_.program.ranks[r].inputChunks * geometry_.unitsPerChunk();
    for (std::uint32_t u = 0; u < units; ++u)
      memory_[memory_.base(r, ir::BufferKind::Input, false) + u].value = values_.input(r, u);
  }
}

void Machine::launchEnds(std::uint32_t rank) {
  if (history_ && control_.launch() == 0)
    history_->close(rank, order_.gather(rank), memory_);
}

} // namespace mscclc::passes::proof
