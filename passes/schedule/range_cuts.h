// Where ranges of several chunks are cut, before statements are placed.
#pragma once

#include "ir/program.h"

#include <array>
#include <cstdint>
#include <vector>

namespace mscclc::passes::schedule {

/// The pieces that the places of statements are cut in: as few as can be, so that any two that meet in a buffer that is
/// written are the same. So instances, which share out each piece, cut such buffers alike. For a pipeline, which goes
/// through all pieces in as many steps, they are all of one size.
///
/// A place is cut where another one begins or ends, and a statement cuts all its places alike. So what the statements
/// join is cut together: boundaries between chunks that are at the same distance from the beginnings of a statement's
/// places are one class, and each class is cut if a place begins or ends at one of its boundaries. Buffers of a rank
/// that nobody writes join and cut nothing.
class RangeCuts {
public:
  /// Of the statements and places of `movement`, which are those of `program`. About linear in the chunks of all
  /// places, counted in units.
  RangeCuts(const ir::Program &program, const ir::Movement &movement);

  /// Chunks that every place is a multiple of, in size and from its memory's beginning; at least 1.
  std::uint32_t unit() const { return unit_; }
  /// Calls `visit(at, size)` for each piece of the places of `statement`: how far it is from their beginnings, and how
  /// long, in chunks. Without chunks there is none.
  void eachPiece(const ir::Movement &movement, const ir::Move &statement, auto &&visit) const {
    const ir::RankChunk &place = movement.dsts(statement)[0];
    const std::size_t first = boundaryAt(place);
    for (std::uint32_t at = 0, end = unit_; at < place.size; end += unit_)
      if (end == place.size || isCut_[first + end / unit_]) {
        visit(at, end - at);
        at = end;
      }
  }

private:
  bool isWritten(const ir::RankChunk &place) const;
  /// The boundary before the place.
  std::size_t boundaryAt(const ir::RankChunk &place) const;
  std::size_t classOf(std::size_t boundary);
  void join(const ir::Movement &movement, const ir::Move &statement);

  const ir::Program &program_;
  std::uint32_t unit_ = 0;
  std::vector<std::array<bool, 3>> isWritten_;    ///< [rank][buffer]
  std::vector<std::array<std::size_t, 3>> first_; ///< [rank][buffer]: the boundary at its beginning
  std::vector<std::size_t> parent_;               ///< [boundary]: towards one that stands for its class
  std::vector<bool> isCut_;                       ///< [boundary]
};

} // namespace mscclc::passes::schedule
