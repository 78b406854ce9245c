// The rows of the page's timeline.
#pragma once

#include "passes/time/timeline.h"

#include <cstdint>
#include <vector>

namespace mscclc::driver {

/// A row: spans of one block, or of one port's proxy. The spans do not overlap.
struct Row {
  std::uint32_t rank = 0;
  bool proxy = false;
  std::uint32_t block = 0;          ///< number of the block, or of the proxy's port channel
  std::vector<std::uint32_t> spans; ///< the spans, ordered by start time
};

/// The rows of a timeline. For each rank, the rows of its blocks come first, block after block, and then the rows of
/// its proxies. If spans of a block overlap in time, the block has several rows.
struct Rows {
  std::vector<Row> rows;
  std::vector<std::int64_t> start, end; ///< [span]: time in whole nanoseconds
};

/// Distributes the spans of a timeline to rows so that the spans of a row do not overlap.
Rows rowsOf(const passes::time::Timeline &timeline);

} // namespace mscclc::driver
