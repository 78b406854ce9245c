// Cuts ranges of several chunks into pieces, before statements are placed.
#pragma once

#include "ir/containers.h"
#include "ir/program.h"

#include <array>
#include <cstdint>
#include <vector>

namespace mscclc::passes::schedule {

/// The pieces into which the places of statements are cut. There are as few pieces as possible, but any two pieces that
/// overlap in a written buffer must be equal. So instances, which share out each piece, divide such buffers in the same
/// way. In a pipeline, all pieces have the same size, because the pipeline does all pieces in the same number of steps.
///
/// A place is cut where another place begins or ends, and a statement cuts all its places in the same way. So
/// boundaries form classes: boundaries between chunks at the same distance from the beginnings of a statement's places
/// are in one class. A class is cut if a place begins or ends at one of its boundaries. A buffer that is never written
/// neither joins classes nor cuts places.
///
/// Example: one statement copies chunks [0, 4) of rank 0 to scratch [0, 4), and another one reads scratch [0, 2).
/// Scratch is cut at 2, so the first statement becomes two: [0, 2) and [2, 4).
class RangeCuts {
public:
  /// Cuts the statements and places of `movement`, which belong to `program`. Takes about linear time in the chunks of
  /// all places, counted in units.
  RangeCuts(const ir::Program &program, const ir::Movement &movement);

  /// Returns the largest number of chunks that divides all sizes and offsets of places; at least 1.
  std::uint32_t unit() const { return unit_; }
  /// Calls `visit(at, size)` for each piece of the places of `statement`. `at`: distance of the piece from the
  /// beginning of each place; `size`: its length, both in chunks. Places without chunks have no pieces.
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
  /// Returns the boundary before the place.
  std::size_t boundaryAt(const ir::RankChunk &place) const;
  void join(const ir::Movement &movement, const ir::Move &statement, ir::DisjointSets<std::size_t> &classes) const;

  const ir::Program &program_;
  std::uint32_t unit_ = 0;
  std::vector<std::array<bool, 3>> isWritten_;    ///< [rank][buffer]
  std::vector<std::array<std::size_t, 3>> first_; ///< [rank][buffer]: the boundary at its beginning
  std::vector<bool> isCut_;                       ///< [boundary]
};

} // namespace mscclc::passes::schedule
