// What a rank's user does between its launches. As with NCCL, input and output are the user's before and after each: it
// reads and overwrites both. Peers may touch them only once the rank has begun its launch, and no more when it has
// ended.
#include "passes/verify/machine.h"

#include "ir/collectives.h"
#include "ir/memory_map.h"

namespace mscclc::passes::proof {

/// Calls visit(first cell, units, input chunk unit or none) for what a rank's user owns, each cell once: where input
/// and output share memory it is the input, as it is what the launch starts from.
template <typename Visit> void Machine::forUserCells(std::uint32_t rank, Visit visit) const {
  const ir::Rank &r = index_.program.ranks[rank];
  const std::uint32_t perChunk = geometry_.unitsPerChunk();
  const CellId input = memory_.base(rank, ir::BufferKind::Input, false);
  const CellId output = memory_.base(rank, ir::BufferKind::Output, false);
  const std::uint32_t inputs = r.inputChunks * perChunk, outputs = r.outputChunks * perChunk;
  for (std::uint32_t u = 0; u < inputs; ++u)
    visit(input + u, u);
  for (std::uint32_t u = 0; u < outputs; ++u)
    if (output + u - input >= inputs) // unsigned: also what lies before it
      visit(output + u, none);
}

void Machine::userOverwrites(std::uint32_t rank) {
  const View view = order_.gather(rank);
  const Epoch by{index_.block(rank, 0), view.phase, Epoch::userWrite};
  forUserCells(rank, [&](CellId id, std::uint32_t input) {
    Cell &cell = memory_[id];
    checkWrite(id, by, view, false);
    stillSent_.clear(); // overwriting these is the user's risk, but later writes of the program are its own
    memory_.forReads(cell, [&](const Epoch &reader) {
      if (reader.isPut() && !order_.before(reader, false, view, Relation::HappensBefore))
        stillSent_.push_back(reader);
    });
    memory_.setWrite(cell, launch_ == 0 ? by : Epoch{});
    for (const Epoch &reader : stillSent_)
      memory_.addRead(cell, reader);
    if (launch_ == 0)
      cell.value = input != none ? values_.input(rank, input) : Values::unwritten;
  });
}

void Machine::userReads(std::uint32_t rank) {
  const View view = order_.gather(rank);
  const Epoch by{index_.block(rank, 0), view.phase, Epoch::userRead};
  forUserCells(rank, [&](CellId id, std::uint32_t) {
    Cell &cell = memory_[id];
    if (cell.write.exists() && !order_.before(cell.write, true, view, Relation::Visibility)) {
      report(id, cell.write, true, by, false, view);
      cell.write = by; // said once
    }
    memory_.addRead(cell, by);
  });
}

void Machine::beginLaunch() {
  const bool user = ir::hasUser(index_.program.collective.kind);
  for (std::uint32_t r = 0; r < index_.numRanks(); ++r) {
    if (user) {
      if (launch_ <= 1)
        userOverwrites(r);
      order_.meetRank(r);
    } else if (launch_ == 0) {
      const std::uint32_t units = index_.program.ranks[r].inputChunks * geometry_.unitsPerChunk();
      for (std::uint32_t u = 0; u < units; ++u)
        memory_[memory_.base(r, ir::BufferKind::Input, false) + u].value = values_.input(r, u);
    }
  }
  order_.beginLaunch();
}

void Machine::endLaunch() {
  for (std::uint32_t r = 0; r < index_.numRanks(); ++r) {
    order_.meetRank(r);
    if (history_ && launch_ == 0)
      history_->close(r, order_.gather(r), memory_);
    if (ir::hasUser(index_.program.collective.kind)) {
      if (launch_ == 0)
        userReads(r);
      order_.meetRank(r);
    }
  }
  ++launch_;
}

} // namespace mscclc::passes::proof
