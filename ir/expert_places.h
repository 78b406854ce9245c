// Where rows lie in a buffer of experts, in a launch.
#pragma once

#include "ir/rows.h"

#include <algorithm>

namespace mscclc::ir {

/// The places of the cells of a rank in a launch with an alignment. With 0, ExpertCells::begin says where cells lie.
/// With another one, groups of cells follow each other, and each begins at a multiple of `align` rows. A group takes
/// its rows, rounded up to such a multiple. One without rows takes `align` rows, as in PyTorch's all_to_all_vdev_2d, so
/// that no two groups begin at one place; but with 1 it takes none, and groups are packed.
///
/// No two cells overlap, because a group takes at least its rows. All are within `groups` times what a full group
/// takes, because more rows take no less.
struct ExpertPlaces {
  ExpertCells cells;
  std::uint64_t capacity = 0; ///< of a cell, in rows
  std::uint32_t align = 0;    ///< rows

  std::uint32_t groups() const { return cells.layout == ExpertLayout::ExpertMajor ? cells.experts : cells.ranks; }
  std::uint32_t members() const { return cells.count() / groups(); } ///< cells of a group
  /// Returns the rows of the buffer that a group of `rows` rows takes.
  std::uint64_t taken(std::uint64_t rows) const {
    if (align == 0)
      return members() * capacity;
    return rows == 0 && align != 1 ? align : (rows + align - 1) / align * align;
  }
  /// Returns the rows that the buffer has to have room for.
  std::uint64_t room() const { return groups() * taken(members() * capacity); }
  /// Returns the row at which each cell begins, by its number. `counts` are in the same order.
  std::vector<std::uint64_t> begins(std::span<const RowCount> counts) const;
};

/// The blocks of rows that a launch and its user hand over one by one (Program::readyRows). Block b of a group has the
/// live rows of the group from b * rows on, at most `rows` of them. Each block has a word, also one without live rows.
/// So each live row is in one block, whatever the counts are.
struct ReadyBlocks {
  std::uint64_t rows = 1; ///< of a block
  std::uint64_t most = 0; ///< rows of a full group

  std::uint64_t perGroup() const { return (most + rows - 1) / rows; }
  /// Returns the live rows of block `block` of a group with `live` live rows.
  std::uint64_t rowsOf(std::uint64_t block, std::uint64_t live) const {
    return std::min(rows, live - std::min(live, block * rows));
  }
};

} // namespace mscclc::ir
