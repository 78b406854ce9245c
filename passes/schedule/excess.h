// By how much thread blocks exceed the limits of an executor.
#pragma once

#include "ir/program.h"
#include "passes/executor_limits.h"

#include <cstdint>
#include <span>

namespace mscclc::passes::schedule {

/// By how much a program exceeds the limits of an executor. Considers only limits that are easier to meet with more
/// thread blocks.
struct Excess {
  double times = 0;         ///< the used amount, divided by the limit that is exceeded most; 0: unknown
  std::uint64_t blocks = 0; ///< blocks of one instance, on the rank that has most blocks; 0: unknown

  bool isKnown() const { return times > 1; }
  /// Returns a number of blocks for one instance that likely meets the limits, because the load spreads over these
  /// blocks.
  std::uint64_t enoughBlocks() const;
};

/// Measures the thread blocks of `ranks`. They contain the blocks of `instances` instances.
Excess excessOf(std::span<const ir::Rank> ranks, const ExecutorLimits &limits, std::uint32_t instances);

} // namespace mscclc::passes::schedule
