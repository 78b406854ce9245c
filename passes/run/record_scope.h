// Decides which parts of a run have to be recorded.
#pragma once

#include "passes/run/memory.h"

#include <vector>

namespace mscclc::passes::prune {

using ir::none;
using ir::ProgramIndex;

/// Selects the accesses that a run has to record. If the ranks are equivalent, only accesses of the first rank are
/// compared with earlier ones. Then only the memory that the first rank accesses is relevant, and accesses of other
/// ranks to this memory.
class RecordScope {
public:
  /// `sizesChange`: launches of other sizes may follow. Then all accesses to a scratch buffer are relevant if the first
  /// rank writes to any place in it.
  RecordScope(const ProgramIndex &index, const proof::Geometry &geometry, const proof::Memory &memory, bool ofFirstRank,
              bool sizesChange);

  /// True if accesses of `rank` are compared with earlier accesses.
  bool asksOf(std::uint32_t rank) const { return !ofFirstRank_ || rank == 0; }
  /// True if uses of the scratch of `rank` are relevant, at any place.
  bool asksOfScratch(std::uint32_t rank) const { return !ofFirstRank_ || rank == 0 || writtenScratch_[rank]; }
  /// True if data operation `op` of `block` accesses relevant memory, or uses packets.
  bool concerns(std::uint32_t block, std::uint32_t op) const {
    return !ofFirstRank_ || concerned_[firstOp_[block] + op];
  }

  using Cells = proof::CellRange;
  /// Returns the part of the `count` cells of `rank` from `first` on that contains all cells to record.
  Cells cut(std::uint32_t rank, bool scratch, bool packet, std::uint64_t first, std::uint64_t count) const;

private:
  /// Returns the number of an area: a rank's inputs and outputs, which may share cells; its scratch; or its packets.
  static std::uint32_t areaOf(std::uint32_t rank, bool scratch, bool packet) {
    return 3 * rank + (packet ? 2 : static_cast<std::uint32_t>(scratch));
  }
  void findTouched(const ProgramIndex &index, const proof::Geometry &geometry, const proof::Memory &memory);
  void findConcerned(const ProgramIndex &index, const proof::Geometry &geometry, const proof::Memory &memory,
                     bool sizesChange);

  const bool ofFirstRank_;
  std::vector<Cells> touched_; ///< [area]: the cells that the first rank accesses
  std::vector<bool> writtenScratch_;
  std::vector<std::uint32_t> firstOp_; ///< [block]: index of its first operation in concerned_
  std::vector<bool> concerned_;
};

} // namespace mscclc::passes::prune
