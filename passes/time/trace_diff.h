// Where a measured trace departs from the prediction.
//
// Operations of a block are compared in order, occurrence by occurrence: the k-th of the trace with the k-th that the
// walk had. Where names differ, the nearest place at which they agree again is looked for, and what lies between has no
// counterpart. Several launches are compared one by one, and of each occurrence the median counts.
#pragma once

#include "passes/time/measured_trace.h"
#include "passes/time/timeline.h"

#include "ir/program.h"

#include <cstdint>
#include <vector>

namespace mscclc::passes::time {

/// A measured time departs if it is off by more than both: the model's own aim, and what the recording of an event and
/// the clock may come to.
inline constexpr double toleratedShare = 0.3;
inline constexpr Time toleratedTime = 500;
constexpr bool departs(Time measured, Time predicted) {
  const Time off = measured < predicted ? predicted - measured : measured - predicted;
  return off > toleratedTime && off > toleratedShare * predicted;
}

/// The operations of one kind that come from one place of the source.
struct OperationDifference {
  ir::OpRef first; ///< one of them
  std::uint64_t times = 0;
  Time measured = 0, predicted = 0; ///< means of their durations
  std::uint64_t departing = 0;      ///< how many of them depart
};

/// From the first operation of a rank to the end of its last, of those that are on both sides.
struct RankDifference {
  std::uint32_t rank = 0;
  Time measured = 0, predicted = 0;
};

struct TraceDifference {
  /// The largest departures, times × (measured − predicted), first.
  std::vector<OperationDifference> operations;
  std::vector<RankDifference> ranks; ///< that have an operation on both sides
  std::uint64_t launches = 0;        ///< at most, of a block
  std::uint64_t compared = 0;        ///< operations of the trace with a counterpart
  std::uint64_t unmeasured = 0;      ///< predicted, in no launch of the trace
  std::uint64_t unpredicted = 0;     ///< in the trace, without a counterpart
};

/// `timeline`: a walk of `program`.
TraceDifference compareTraces(const ir::Program &program, const Timeline &timeline, const MeasuredTrace &trace);

} // namespace mscclc::passes::time
