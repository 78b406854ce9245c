// Rows: only a part of each slot is live. The length of that part is known only at run time.
//
// A collective of rows (ROW_COLLECTIVE in collectives.def) has a slot for each pair of ranks. A slot has room for
// `capacity` rows. The capacity is the same for all slots, and is fixed when a kernel is loaded. The sender gives the
// count of a slot, which may change from launch to launch. min(max(count, 0), capacity) rows are live. A slot is one
// chunk of the sender's input and one of the receiver's output. Instances divide it into parts, which are chunks of
// their own.
//
// Chunks have no counts of their own. The count of a slot holds for each chunk with rows of this slot. The compiler
// finds out the slot of a chunk (RowSlots). So programs of rows only move whole chunks.
#pragma once

#include "ir/program.h"

#include <map>
#include <span>

namespace mscclc::ir {

/// Rows [live * part / parts, live * (part + 1) / parts) of the `live` rows that rank `src` sends to rank `dst`.
struct RowPart {
  std::uint32_t src = 0, dst = 0;
  std::uint32_t part = 0, parts = 1;
  friend bool operator==(const RowPart &, const RowPart &) = default;
};
/// Returns the rows that an input chunk holds at the beginning of a launch, or an output chunk at the end.
RowPart rowPartOf(const Program &program, std::uint32_t rank, BufferKind buffer, std::uint32_t chunk);

/// The rows that the operands of a program of thread blocks hold. The proof finds them (passes/verify/verify.h).
class RowSlots {
public:
  /// Notes that chunk `chunk` of source `source` of an operation holds input chunk `content`.
  void set(const OpRef &place, std::uint32_t source, std::uint32_t chunk, const Contribution &content);
  /// Returns the rows that chunk `chunk` of operand `operand` (sources first) of the operation at `place` holds.
  /// `chunk` counts from the operand's first chunk. A destination holds the rows after the operation. Throws
  /// InternalError for an operation that moves no rows.
  RowPart of(const Program &program, const OpRef &place, std::uint32_t operand, std::uint32_t chunk) const;
  friend bool operator==(const RowSlots &, const RowSlots &) = default;

private:
  struct Entry {
    OpRef place;
    std::uint32_t source, chunk;
    friend auto operator<=>(const Entry &, const Entry &) = default;
  };
  std::map<Entry, Contribution> contents_;
};

/// The count of a slot, as its sender gives it: `live` rows, and `excess` rows above the capacity.
struct RowCount {
  std::uint64_t live = 0, excess = 0;
  bool isClamped = false; ///< the given count is negative, or above the capacity
  friend bool operator==(const RowCount &, const RowCount &) = default;
};
RowCount rowCountOf(std::int64_t given, std::uint64_t capacity);

/// A number of rows that is linear in the counts of slots: capacities * capacity, and for each slot live * (its live
/// rows) + excess * (its excess rows).
struct RowSum {
  struct Factors {
    std::int64_t live = 0, excess = 0;
  };
  std::int64_t capacities = 0;
  std::vector<Factors> slots;

  std::int64_t valueOf(std::uint64_t capacity, std::span<const RowCount> counts) const;
  /// Returns the least value that the sum has for any counts, as a number of capacities. Returns nothing if there is no
  /// least value.
  std::optional<std::int64_t> least() const;
};

/// Returns the row at which slot `slot` of `slots` begins in an input or output. Slots of an input are in the order of
/// receivers, and slots of an output in the order of senders. In a packed input, a slot begins at the sum of the counts
/// before it, as they are given. So offsets of a user are prefix sums of the counts. In a packed output, it begins
/// after the live rows of the slots before it.
RowSum rowBegin(RowLayout layout, BufferKind buffer, std::uint32_t slots, std::uint32_t slot);

/// Returns the row at which slot `slot` of `slots` begins, if each group of `group` slots has a fixed place with room
/// for all their capacities. In a group, the live rows of a slot follow those of the slot before it.
RowSum rowBeginInGroup(std::uint32_t slots, std::uint32_t group, std::uint32_t slot);

/// The rows of experts. *Cell* (s, e) of rank r has the rows from rank s to expert e of r. The capacity of a cell is
/// the capacity of a slot divided by the number of experts, rounded down. A rank's *entries* are the numbers of its
/// index: entry i names an expert of row i / choices. Entries that name the same expert have the ordinals 0, 1, 2 and
/// so on, in their order. An entry is live if its ordinal is below the capacity of a cell.
///
/// The row of an entry lies in the slot to the expert's rank, and then in a buffer of that rank. In both it lies at the
/// beginning of its cell plus its ordinal. So two live entries have two places: in one cell their ordinals differ, and
/// two cells are disjoint. The latter follows from rowBeginInGroup. In a slot, the cells of one sender are one group.
/// In a buffer of the expert's rank, the cells of one expert, or of one sender, are a group (ExpertLayout).
///
/// With Program::oncePerRank, a slot of a dispatch holds a row once, for all live entries that name an expert of the
/// slot's rank. The first of these entries decides the place of the row: in the cell of its expert, at its ordinal
/// among the first entries of the cell. Here a cell has only the rows of first entries. Two rows have two places, by
/// the lemma above with the counts of first entries: the lemma holds for all counts. The slot has room, because a row
/// has only one first entry for a rank. So a cell of the slot has at most as many rows as live entries. Behind its
/// payloads, a row has a list: for each entry of the row its cell and ordinal, if the entry is live and names an expert
/// of that rank. The rank copies the row to each place of the list. So a live entry has the same place in the buffer as
/// without oncePerRank.
///
/// In a slot's row, the payloads of a row follow each other. In the buffers on both sides, each payload has an array of
/// its own. An array has as many rows as a buffer, so payloads do not change the place of a row.
struct ExpertCells {
  std::uint32_t ranks = 0, experts = 0;
  ExpertLayout layout = ExpertLayout::ExpertMajor;

  std::uint32_t count() const { return ranks * experts; } ///< number of cells of a rank
  /// Returns the number of cell (src, expert) in the order of places.
  std::uint32_t number(std::uint32_t src, std::uint32_t expert) const {
    return layout == ExpertLayout::ExpertMajor ? expert * ranks + src : src * experts + expert;
  }
  /// Returns the row at which cell `number` begins in a buffer in the layout. The terms of the sum are in the order of
  /// cells.
  RowSum begin(std::uint32_t number) const {
    return rowBeginInGroup(count(), layout == ExpertLayout::ExpertMajor ? ranks : experts, number);
  }
  /// Returns the row at which the cell of `expert` begins in a slot. The terms of the sum are in the order of experts.
  RowSum beginInSlot(std::uint32_t expert) const { return rowBeginInGroup(experts, experts, expert); }
};
/// Returns the cells of the program's ranks. There are none if its collective has no experts.
ExpertCells expertCellsOf(const Program &program);

/// Rows [begin, begin + count) of a buffer.
struct RowRange {
  std::uint64_t begin = 0, count = 0;
};
/// Returns the place of slot `slot` in a buffer of `room` rows: its live rows from `begin` on, as far as there is room.
/// `counts` are those of all slots.
RowRange rowPlace(const RowSum &begin, std::uint32_t slot, std::uint64_t capacity, std::uint64_t room,
                  std::span<const RowCount> counts);

} // namespace mscclc::ir
