// The rows of the page's timeline.
#pragma once

#include "passes/time/timeline.h"

#include <cstdint>
#include <vector>

namespace mscclc::driver {

/// Spans of one block, or of one port's proxy, that are apart from each other.
struct Row {
  std::uint32_t rank = 0;
  bool proxy = false;
  std::uint32_t block = 0;          ///< or the port channel
  std::vector<std::uint32_t> spans; ///< in order of time
};

/// A timeline's spans in rows: a block's first row is below its rank's earlier blocks', its other rows hold what runs
/// at the same time. Proxies come after the rank's blocks.
struct Rows {
  std::vector<Row> rows;
  std::vector<std::int64_t> start, end; ///< [span], whole nanoseconds
};

/// Deals the spans of a timeline out to rows, in which they do not overlap.
Rows rowsOf(const passes::time::Timeline &timeline);

} // namespace mscclc::driver
