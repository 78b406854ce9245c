#include "passes/schedule/range_cuts.h"

#include "ir/memory_map.h"

#include <algorithm>
#include <numeric>

namespace mscclc::passes::schedule {

using ir::Move;
using ir::RankChunk;

RangeCuts::RangeCuts(const ir::Program &program, const ir::Movement &movement)
    : program_(program), isWritten_(program.ranks.size()), first_(program.ranks.size()) {
  std::vector<std::array<std::uint32_t, 3>> ends(program.ranks.size()); // in chunks
  for (const RankChunk &place : movement.places) {
    const ir::CanonicalPlace at = ir::canonicalPlace(program, place.rank, place.buffer, place.index);
    unit_ = std::gcd(unit_, std::gcd(at.index, place.size));
    std::uint32_t &end = ends[place.rank][static_cast<std::size_t>(at.buffer)];
    end = std::max(end, at.index + place.size);
  }
  unit_ = std::max(unit_, 1u);
  for (const Move &statement : movement.statements)
    for (const RankChunk &dst : movement.dsts(statement))
      isWritten_[dst.rank][static_cast<std::size_t>(ir::canonicalPlace(program, dst.rank, dst.buffer, 0).buffer)] =
          true;
  std::size_t boundaries = 0;
  for (std::size_t r = 0; r < ends.size(); ++r)
    for (std::size_t buffer = 0; buffer < 3; ++buffer) {
      first_[r][buffer] = boundaries;
      boundaries += ends[r][buffer] / unit_ + 1;
    }
  ir::DisjointSets<std::size_t> classes(boundaries);
  for (const Move &statement : movement.statements)
    join(movement, statement, classes);
  std::vector<bool> isClassCut(boundaries, false);
  for (const RankChunk &place : movement.places) {
    if (!isWritten(place))
      continue;
    const std::size_t begin = boundaryAt(place);
    isClassCut[classes.find(begin)] = isClassCut[classes.find(begin + place.size / unit_)] = true;
  }
  isCut_.resize(boundaries);
  for (std::size_t b = 0; b < boundaries; ++b)
    isCut_[b] = program.movement.step != 0 || isClassCut[classes.find(b)];
}

bool RangeCuts::isWritten(const RankChunk &place) const {
  const ir::BufferKind buffer = ir::canonicalPlace(program_, place.rank, place.buffer, 0).buffer;
  return isWritten_[place.rank][static_cast<std::size_t>(buffer)];
}

std::size_t RangeCuts::boundaryAt(const RankChunk &place) const {
  const ir::CanonicalPlace at = ir::canonicalPlace(program_, place.rank, place.buffer, place.index);
  return first_[place.rank][static_cast<std::size_t>(at.buffer)] + at.index / unit_;
}

/// Joins the classes of boundaries at equal distances inside the statement's places.
void RangeCuts::join(const ir::Movement &movement, const Move &statement,
                     ir::DisjointSets<std::size_t> &classes) const {
  const std::size_t first = boundaryAt(movement.dsts(statement)[0]);
  for (const RankChunk &place : movement.placesOf(statement)) {
    const std::size_t at = boundaryAt(place), inside = isWritten(place) ? place.size / unit_ : 0;
    for (std::size_t b = 1; b < inside && at != first; ++b)
      classes.join(first + b, at + b);
  }
}

} // namespace mscclc::passes::schedule
