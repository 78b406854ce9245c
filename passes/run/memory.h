// The memory of all ranks as cells, one for each unit of a chunk. A cell has its last write, the reads since then, and
// its value.
#pragma once

#include "passes/run/epoch.h"
#include "passes/run/geometry.h"

namespace mscclc::passes::proof {

using ValueId = std::uint32_t;
using CellId = std::uint32_t;

struct Cell {
  Epoch write;
  Epoch read;                     ///< the first reader since the write; others follow in `moreReads`
  std::uint32_t moreReads = none; ///< index into Memory::reads_
  ValueId value = 0;              ///< 0: never written
};

/// Cells from `first` up to `end`.
struct CellRange {
  std::uint64_t first = 0, end = 0;
  bool has(std::uint64_t cell) const { return cell - first < end - first; }
};

/// The place of a cell in the user's terms.
struct CellPlace {
  std::uint32_t rank = 0;
  ir::BufferKind buffer = ir::BufferKind::Input;
  std::uint32_t chunk = 0;
  std::uint32_t unit = 0; ///< position within the chunk
  bool packet = false;
};

/// The cells of all ranks.
class Memory {
public:
  Memory(const ProgramIndex &index, const Geometry &geometry);
  /// Lays out the memory for another size, and empties it.
  void layOut(const Geometry &geometry);

  /// The most cells. With more, memory would take more than a few gigabytes.
  static constexpr std::uint64_t mostCells = std::uint64_t{1} << 26;
  /// False if there are more than `mostCells` cells.
  bool fits() const { return fits_; }
  /// False if there would be too many cells even with one unit for each chunk.
  static bool chunksFit(const ir::Program &program);
  std::uint64_t numCells() const { return cells_.size(); }

  /// Returns the cell of unit 0 of a buffer. In place, buffers share cells. Packets in scratch have cells of their own.
  /// Double scratch has cells for one half only, because launches on the other half are not checked (see CellChecks).
  CellId base(std::uint32_t rank, ir::BufferKind buffer, bool packet) const {
    const Bases &b = bases_[rank];
    return packet ? b.slots : b.plain[static_cast<std::size_t>(buffer)];
  }
  Cell &operator[](CellId id) { return cells_[id]; }
  const Cell &operator[](CellId id) const { return cells_[id]; }
  CellPlace locate(CellId id) const;
  /// Calls visit(cell, unit of its input or none) once for each cell that a rank's user owns. A cell that input and
  /// output share counts as input, because the launch begins with the input.
  template <typename Visit> void forUserCells(std::uint32_t rank, Visit &&visit) const {
    const ir::Rank &r = index_.program.ranks[rank];
    const CellId input = base(rank, ir::BufferKind::Input, false), output = base(rank, ir::BufferKind::Output, false);
    const std::uint32_t inputs = r.inputChunks * unitsPerChunk_, outputs = r.outputChunks * unitsPerChunk_;
    for (std::uint32_t u = 0; u < inputs; ++u)
      visit(input + u, u);
    for (std::uint32_t u = 0; u < outputs; ++u)
      if (output + u - input >= inputs) // unsigned, so that cells before the input are also outside of it
        visit(output + u, none);
  }
  /// Returns the cells of packets in the scratch of a rank.
  CellRange packetsOf(std::uint32_t rank) const {
    return usesPackets() ? CellRange{bases_[rank].slots, slotRankEnd_[rank]} : CellRange{};
  }
  std::string describe(CellId id) const; ///< Returns "output[3] of rank 1".

  bool usesPackets() const { return firstSlot_ != cells_.size(); }
  /// Returns the first cell of packets. They come after all others.
  CellId firstSlot() const { return firstSlot_; }
  /// True if the packet in this cell was read, and so has arrived. If the packet was written twice, a read of the first
  /// one does not show that the second one has arrived.
  bool packetArrived(CellId id) const { return cells_[id].read.exists() && !slotAgain_[id - firstSlot_]; }
  /// Notes that `record` wrote the packet in this cell again, with the same content, in the first launch. Only packets
  /// of that launch are recorded. `record` becomes the last write, and reads stay.
  void setWriteAgain(CellId id, const Epoch &record) {
    cells_[id].write = record;
    slotAgain_[id - firstSlot_] = true;
  }

  /// Calls `visit(record)` for each read since the last write.
  template <typename Visit> void forReads(const Cell &cell, Visit &&visit) const {
    if (!cell.read.exists())
      return;
    visit(cell.read);
    for (std::uint32_t i = cell.moreReads; i != none; i = reads_[i].next)
      visit(reads_[i].record);
  }
  /// Adds a read. It may replace an earlier read of the same block, unless `keeps` is true.
  void addRead(Cell &cell, const Epoch &record, bool keeps = false);
  /// Makes `record` the last write, and forgets the reads.
  void setWrite(Cell &cell, const Epoch &record);

private:
  struct Bases {
    CellId plain[3] = {0, 0, 0};
    CellId slots = 0;
    std::uint32_t scratchUnits = 0;
  };
  struct ReadNode {
    Epoch record;
    std::uint32_t next;
  };
  const ProgramIndex &index_;
  std::uint32_t unitsPerChunk_ = 1;
  bool fits_ = true;
  std::vector<Bases> bases_;
  std::vector<CellId> rankEnd_;     // [rank], end of its plain cells
  std::vector<CellId> slotRankEnd_; // [rank], end of its packet cells
  CellId firstSlot_ = 0;
  std::vector<Cell> cells_;
  std::vector<bool> slotAgain_;
  std::vector<ReadNode> reads_;
  std::uint32_t freeRead_ = none;
};

} // namespace mscclc::passes::proof
