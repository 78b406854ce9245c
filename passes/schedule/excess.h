// By how much thread blocks exceed the limits of an executor.
#pragma once

#include "ir/program.h"
#include "passes/executor_limits.h"

#include <cstdint>
#include <span>

namespace mscclc::passes::schedule {

/// By how much a program exceeds those limits of an executor that more thread blocks help with.
struct Excess {
  double times = 0;         ///< use of the limit that is exceeded most, divided by the limit; 0: unknown
  std::uint64_t blocks = 0; ///< blocks of one instance on the rank with the most; 0: unknown

  bool isKnown() const { return times > 1; }
  /// Returns a number of blocks for one instance that is likely within the limits: the load spreads over them.
  std::uint64_t enoughBlocks() const;
};

/// Measures the thread blocks of `ranks`, which have `instances` instances in them.
Excess excessOf(std::span<const ir::Rank> ranks, const ExecutorLimits &limits, std::uint32_t instances);

} // namespace mscclc::passes::schedule
