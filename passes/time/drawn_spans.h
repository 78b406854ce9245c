// Assigns the spans of a timeline to lanes, to draw them. Operations of a phase may overlap, but spans of one lane must
// nest.
#pragma once

#include "passes/time/timeline.h"

namespace mscclc::passes::time {

/// A span in whole nanoseconds. It is at least one nanosecond long.
struct DrawnSpan {
  std::int64_t start = 0, end = 0;
  std::uint32_t lane = 0; ///< lane of the span's block, or of its port's proxy; 0 is the first lane
  std::size_t depth = 0;  ///< number of spans of the lane that contain it
};

/// Returns the drawn span of each span. Two spans of one lane are separate, or one contains the other.
std::vector<DrawnSpan> drawnSpans(const Timeline &timeline);

} // namespace mscclc::passes::time
