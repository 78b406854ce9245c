// Rows: only a part of each slot is live. The length of that part is known only at run time.
//
// A collective of rows (ROW_COLLECTIVE in collectives.def) has a slot for each pair of ranks. A slot has room for
// `capacity` rows, which is the same for all slots and is fixed when a kernel is loaded. The count of a slot is data of
// its sender, and each launch may have others. min(max(count, 0), capacity) rows are live. A slot is one chunk of the
// sender's input and one of the receiver's output. Instances divide it into parts, which are chunks of their own.
//
// Chunks have no counts of their own. A chunk has that of the slot whose rows it holds. The compiler finds out which
// slot that is (RowSlots). So programs of rows only move whole chunks.
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
/// Returns the rows that an input chunk holds at the beginning, or an output chunk at the end.
RowPart rowPartOf(const Program &program, std::uint32_t rank, BufferKind buffer, std::uint32_t chunk);

/// The rows that the operands of a program of thread blocks hold. The proof finds them (passes/verify/verify.h).
class RowSlots {
public:
  /// Notes that chunk `chunk` of source `source` of an operation is input chunk `content`.
  void set(const OpRef &place, std::uint32_t source, std::uint32_t chunk, const Contribution &content);
  /// Returns the rows that operand `operand` (sources first) of the operation at `place` holds in its chunk `chunk`,
  /// counted from the first one of the operand. A destination holds them after the operation. Throws InternalError for
  /// an operation that moves no rows.
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
  bool isClamped = false; ///< it is negative, or above the capacity
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
  /// Returns the least value that the sum has for any counts, in capacities. Returns nothing if there is no least one.
  std::optional<std::int64_t> least() const;
};

/// Returns the row at which slot `slot` of `slots` begins in an input or output. The slots of an input are in the order
/// of receivers, those of an output in that of senders. In a packed input, they follow the counts as they are given,
/// so that a user's offsets are prefix sums of his counts. In a packed output, they follow the live rows.
RowSum rowBegin(RowLayout layout, BufferKind buffer, std::uint32_t slots, std::uint32_t slot);

/// Returns the row at which slot `slot` of `slots` begins, if groups of `group` slots have a fixed place of as many
/// capacities, and the live rows of a slot follow those of the slot before it in its group.
RowSum rowBeginInGroup(std::uint32_t slots, std::uint32_t group, std::uint32_t slot);

/// The rows of experts. *Cell* (s, e) of rank r has the rows from rank s to expert e of r. It has at most as many as
/// the capacity of an expert: the capacity of a slot divided by the number of experts, rounded down. A rank's *entries*
/// are the numbers of its index: entry i names an expert of row i / choices. If they name the same expert, entries have
/// the ordinals 0, 1, 2 and so on, in their order. An entry is live if its ordinal is below the capacity.
///
/// An entry's row lies in the slot to the expert's rank, and then in a buffer of that rank, each time at the beginning
/// of its cell plus its ordinal. So two live entries have two places: if their cells are the same, their ordinals
/// differ, and else the places of cells are disjoint. That follows from rowBeginInGroup: in a slot, the cells of one
/// sender are one group. In a buffer of an expert's rank, groups are the cells of an expert, or of a sender
/// (ExpertLayout).
///
/// With Program::oncePerRank, a slot of a dispatch holds a row once, for all live entries that name an expert of the
/// slot's rank. The row lies where the first of these entries puts it: in the cell of its expert, which here has only
/// the rows of such first entries, at its ordinal among them. So two rows have two places, for the same reason, and
/// the slot has room: a row has one first entry for a rank, so a cell of the slot has at most as many rows as live
/// entries. That is the lemma with other counts, and it holds for all counts. Behind its payloads, a row has a list:
/// for each entry of the row its cell and ordinal, if it is live and of that rank. The rank copies the row to each
/// place of the list, so a live entry has the same place in the buffer as without oncePerRank.
///
/// The payloads of a row lie one behind the other in a slot's row, and each has an array of its own on both sides. An
/// array has as many rows as a buffer, so payloads change no place of a row.
struct ExpertCells {
  std::uint32_t ranks = 0, experts = 0;
  ExpertLayout layout = ExpertLayout::ExpertMajor;

  std::uint32_t count() const { return ranks * experts; } ///< number of cells of a rank
  /// Returns the number of cell (src, expert) in the order of places.
  std::uint32_t number(std::uint32_t src, std::uint32_t expert) const {
    return layout == ExpertLayout::ExpertMajor ? expert * ranks + src : src * experts + expert;
  }
  /// Returns the row at which cell `number` begins in a buffer in the layout. Terms are in the order of places.
  RowSum begin(std::uint32_t number) const {
    return rowBeginInGroup(count(), layout == ExpertLayout::ExpertMajor ? ranks : experts, number);
  }
  /// Returns the row at which the cell of `expert` begins in a slot. Terms are in the order of experts.
  RowSum beginInSlot(std::uint32_t expert) const { return rowBeginInGroup(experts, experts, expert); }
};
/// Returns the cells of the program's ranks. There are none if its collective has no experts.
ExpertCells expertCellsOf(const Program &program);

/// Rows [begin, begin + count) of a buffer.
struct RowRange {
  std::uint64_t begin = 0, count = 0;
};
/// Returns the place of a slot with these counts in a buffer of `room` rows: from `begin` on its live rows, as far as
/// there is room.
RowRange rowPlace(const RowSum &begin, std::uint32_t slot, std::uint64_t capacity, std::uint64_t room,
                  std::span<const RowCount> counts);

} // namespace mscclc::ir
