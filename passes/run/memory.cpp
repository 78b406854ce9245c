#include "passes/run/memory.h"

#include "ir/memory_map.h"
#include "ir/op_semantics.h"

#include <algorithm>

namespace mscclc::passes::proof {

namespace {
bool hasPacketOps(const ir::Program &program) {
  return std::ranges::any_of(ir::opsOf(program.ranks), [](const ir::Op &op) { return ir::isPacketOp(op.kind); });
}
} // namespace

Memory::Memory(const ProgramIndex &index, const Geometry &geometry) : index_(index) {
  layOut(geometry);
}

void Memory::layOut(const Geometry &geometry) {
  const ProgramIndex &index = index_;
  const ir::Program &program = index.program;
  unitsPerChunk_ = geometry.unitsPerChunk();
  bases_.clear();
  rankEnd_.clear();
  slotRankEnd_.clear();
  cells_.clear();
  reads_.clear();
  freeRead_ = none;
  const bool packets = hasPacketOps(program);
  std::uint64_t total = 0;
  constexpr std::uint64_t most = Epoch::putBit - 1;
  const auto take = [&](std::uint64_t units) {
    const std::uint64_t first = total;
    total += units;
    return static_cast<CellId>(std::min(first, most));
  };
  bases_.resize(index.numRanks());
  for (std::uint32_t r = 0; r < index.numRanks(); ++r) {
    const ir::Rank &rank = program.ranks[r];
    Bases &b = bases_[r];
    // In place, input and output share the cells of the larger buffer.
    std::uint64_t sizes[2] = {rank.inputChunks, rank.outputChunks};
    for (const auto kind : {ir::BufferKind::Input, ir::BufferKind::Output}) {
      const auto place = ir::canonicalPlace(program, r, kind, 0);
      if (place.buffer == kind)
        continue;
      auto &holder = sizes[static_cast<std::size_t>(place.buffer)];
      holder = std::max(holder, place.index + sizes[static_cast<std::size_t>(kind)]);
      sizes[static_cast<std::size_t>(kind)] = 0;
    }
    b.plain[0] = take(sizes[0] * unitsPerChunk_);
    b.plain[1] = take(sizes[1] * unitsPerChunk_);
    for (const auto kind : {ir::BufferKind::Input, ir::BufferKind::Output}) {
      const auto place = ir::canonicalPlace(program, r, kind, 0);
      if (place.buffer != kind)
        b.plain[static_cast<std::size_t>(kind)] =
            b.plain[static_cast<std::size_t>(place.buffer)] + place.index * unitsPerChunk_;
    }
    b.scratchUnits = static_cast<std::uint32_t>(std::min(most, std::uint64_t{rank.scratchChunks} * unitsPerChunk_));
    b.plain[2] = take(std::uint64_t{rank.scratchChunks} * unitsPerChunk_);
    rankEnd_.push_back(static_cast<CellId>(std::min(total, most)));
  }
  firstSlot_ = static_cast<CellId>(std::min(total, most));
  for (std::uint32_t r = 0; packets && r < index.numRanks(); ++r) {
    bases_[r].slots = take(std::uint64_t{program.ranks[r].scratchChunks} * unitsPerChunk_);
    slotRankEnd_.push_back(static_cast<CellId>(std::min(total, most)));
  }
  fits_ = total <= mostCells;
  if (!fits_)
    return;
  cells_.resize(total);
  slotAgain_.assign(total - firstSlot_, false);
}

bool Memory::chunksFit(const ir::Program &program) {
  std::uint64_t chunks = 0;
  for (const ir::Rank &rank : program.ranks)
    chunks += std::uint64_t{std::max(rank.inputChunks, rank.outputChunks)} + rank.scratchChunks;
  return chunks <= mostCells;
}

CellPlace Memory::locate(CellId id) const {
  CellPlace place;
  place.packet = id >= firstSlot_;
  const auto &ends = place.packet ? slotRankEnd_ : rankEnd_;
  place.rank = static_cast<std::uint32_t>(std::upper_bound(ends.begin(), ends.end(), id) - ends.begin());
  const Bases &b = bases_[place.rank];
  const auto set = [&](ir::BufferKind buffer, std::uint64_t offset) {
    place.buffer = buffer;
    place.chunk = static_cast<std::uint32_t>(offset / unitsPerChunk_);
    place.unit = static_cast<std::uint32_t>(offset % unitsPerChunk_);
  };
  const ir::Rank &rank = index_.program.ranks[place.rank];
  if (place.packet) {
    set(ir::BufferKind::Scratch, id - b.slots);
  } else if (b.scratchUnits != 0 && id >= b.plain[2]) {
    set(ir::BufferKind::Scratch, id - b.plain[2]);
  } else {
    // If buffers share memory, the place gets the output's name, because that is the buffer with the wrong result.
    for (const auto kind : {ir::BufferKind::Output, ir::BufferKind::Input}) {
      const CellId first = b.plain[static_cast<std::size_t>(kind)];
      if (id >= first && id - first < std::uint64_t{rank.chunksOf(kind)} * unitsPerChunk_) {
        set(kind, id - first);
        break;
      }
    }
  }
  return place;
}

std::string Memory::describe(CellId id) const {
  const CellPlace p = locate(id);
  return (p.packet ? "packet " : "") + std::string(ir::toString(p.buffer)) + "[" + std::to_string(p.chunk) +
         "] of rank " + std::to_string(p.rank);
}

void Memory::addRead(Cell &cell, const Epoch &record, bool keeps) {
  if (!cell.read.exists()) {
    cell.read = record;
    return;
  }
  if (!keeps && cell.moreReads != none) { // a loop may read a cell many times
    Epoch &last = reads_[cell.moreReads].record;
    if (last.agent == record.agent && (last.phase < record.phase || last.ref == record.ref)) {
      last = record;
      return;
    }
  }
  std::uint32_t node = freeRead_;
  if (node != none) {
    freeRead_ = reads_[node].next;
  } else {
    node = static_cast<std::uint32_t>(reads_.size());
    reads_.emplace_back();
  }
  reads_[node] = {record, cell.moreReads};
  cell.moreReads = node;
}

void Memory::setWrite(Cell &cell, const Epoch &record) {
  cell.write = record;
  cell.read = {};
  while (cell.moreReads != none) {
    const std::uint32_t node = cell.moreReads;
    cell.moreReads = reads_[node].next;
    reads_[node].next = freeRead_;
    freeRead_ = node;
  }
}

} // namespace mscclc::passes::proof
