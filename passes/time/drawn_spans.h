// Spans of a timeline as they can be drawn: operations of a phase overlap, and a lane holds only what nests.
#pragma once

#include "passes/time/timeline.h"

namespace mscclc::passes::time {

/// A span in whole nanoseconds, at least one of them long.
struct DrawnSpan {
  std::int64_t start = 0, end = 0;
  std::uint32_t lane = 0; ///< of its block, or of its port's proxy; 0 is the first
};

/// [span]. In one lane two spans are apart or one holds the other.
std::vector<DrawnSpan> drawnSpans(const Timeline &timeline);

} // namespace mscclc::passes::time
