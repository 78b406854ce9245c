// Compares a measured trace with the predicted timeline. The operations of a block are compared in order: the k-th of
// the trace with the k-th of the walk. Where names differ, both sides continue at the nearest place where they agree
// again. The operations before that place have no counterpart. If there are several launches, each is compared, and the
// median counts for each operation.
#pragma once

#include "passes/time/measured_trace.h"
#include "passes/time/timeline.h"

#include "ir/program.h"

#include <cstdint>
#include <vector>

namespace mscclc::passes::time {

/// A measured time departs from the prediction if the difference exceeds both limits: the accuracy that the model aims
/// at, and the time that the recording of an event and the clock may add.
inline constexpr double toleratedShare = 0.3;
inline constexpr Time toleratedTime = 500;
constexpr bool departs(Time measured, Time predicted) {
  const Time off = measured < predicted ? predicted - measured : measured - predicted;
  return off > toleratedTime && off > toleratedShare * predicted;
}

/// The operations of one kind that come from one place of the source.
struct OperationDifference {
  ir::OpRef first; ///< one of the operations
  std::uint64_t times = 0;
  Time measured = 0, predicted = 0; ///< means of their durations
  std::uint64_t departing = 0;      ///< number of the operations that depart from the prediction
};

/// The time from the first operation of a rank to the end of its last one. Only operations that are both in the trace
/// and in the walk count.
struct RankDifference {
  std::uint32_t rank = 0;
  Time measured = 0, predicted = 0;
};

struct TraceDifference {
  /// Sorted by times × |measured − predicted|, the largest first.
  std::vector<OperationDifference> operations;
  std::vector<RankDifference> ranks; ///< ranks with an operation that is both in the trace and in the walk
  std::uint64_t launches = 0;        ///< the largest number of launches of a block
  std::uint64_t compared = 0;        ///< operations of the trace that have a counterpart
  std::uint64_t unmeasured = 0;      ///< predicted operations that are in no launch of the trace
  std::uint64_t unpredicted = 0;     ///< operations of the trace without a counterpart
};

/// Compares `trace` with `timeline`, a walk of `program`.
TraceDifference compareTraces(const ir::Program &program, const Timeline &timeline, const MeasuredTrace &trace);

} // namespace mscclc::passes::time
