// The places of rows in a buffer of experts, in one launch.
#pragma once

#include "ir/rows.h"

#include <algorithm>

namespace mscclc::ir {

/// The places of the cells of a rank, in a launch with alignment `align`. If `align` is 0, ExpertCells::begin says
/// where cells begin. Otherwise groups of cells follow each other, and each begins at a multiple of `align` rows. A
/// group takes as many rows as it has, rounded up to a multiple of `align`. A group without rows takes `align` rows, as
/// in PyTorch's all_to_all_vdev_2d, so that no two groups begin at one place. If `align` is 1, it takes no rows, and
/// groups are packed.
///
/// No two cells overlap, because a group takes at least as many rows as it has. All groups lie within `groups()` times
/// the rows that a full group takes, because a group with fewer rows takes no more.
struct ExpertPlaces {
  ExpertCells cells;
  std::uint64_t capacity = 0; ///< most rows of a cell
  std::uint32_t align = 0;    ///< rows

  std::uint32_t groups() const { return cells.layout == ExpertLayout::ExpertMajor ? cells.experts : cells.ranks; }
  std::uint32_t members() const { return cells.count() / groups(); } ///< number of cells of a group
  /// Returns how many rows of the buffer a group with `rows` rows takes.
  std::uint64_t taken(std::uint64_t rows) const {
    if (align == 0)
      return members() * capacity;
    return rows == 0 && align != 1 ? align : (rows + align - 1) / align * align;
  }
  /// Returns the number of rows for which the buffer must have room.
  std::uint64_t room() const { return groups() * taken(members() * capacity); }
  /// Returns the row at which each cell begins, by the number of the cell. `counts` are in the same order.
  std::vector<std::uint64_t> begins(std::span<const RowCount> counts) const;
};

/// The blocks of rows that a launch and its user hand over one by one (Program::readyRows). Block b of a group has at
/// most `rows` live rows of the group, from row b * `rows` on. So each live row is in exactly one block, whatever the
/// counts are. Each block has a word, even if it has no live rows.
struct ReadyBlocks {
  std::uint64_t rows = 1; ///< most rows of a block
  std::uint64_t most = 0; ///< rows of a full group

  std::uint64_t perGroup() const { return (most + rows - 1) / rows; }
  /// Returns the number of live rows of block `block` in a group with `live` live rows.
  std::uint64_t rowsOf(std::uint64_t block, std::uint64_t live) const {
    return std::min(rows, live - std::min(live, block * rows));
  }
};

} // namespace mscclc::ir
