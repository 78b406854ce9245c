// The rows of the page's timeline.
#pragma once

#include "passes/time/timeline.h"

#include <cstdint>
#include <vector>

namespace mscclc::driver {

/// Spans of one block, or of one port's proxy, that do not overlap.
struct Row {
  std::uint32_t rank = 0;
  bool proxy = false;
  std::uint32_t block = 0;          ///< number of the block, or of the port channel
  std::vector<std::uint32_t> spans; ///< spans in order of time
};

/// The rows of a timeline. The first row of a block is below its rank's earlier blocks. Further rows of it hold spans
/// that run at the same time. Proxies come after the rank's blocks.
struct Rows {
  std::vector<Row> rows;
  std::vector<std::int64_t> start, end; ///< [span], whole nanoseconds
};

/// Distributes the spans of a timeline to rows, in which they do not overlap.
Rows rowsOf(const passes::time::Timeline &timeline);

} // namespace mscclc::driver
