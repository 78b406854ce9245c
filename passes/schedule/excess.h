// How much the thread blocks of a program exceed the limits of an executor.
#pragma once

#include "ir/program.h"
#include "passes/executor_limits.h"

#include <cstdint>
#include <span>

namespace mscclc::passes::schedule {

/// How much a program exceeds the limits of an executor. Considers only limits that are easier to meet with more thread
/// blocks.
struct Excess {
  double times = 0;         ///< the used amount, divided by the limit that is exceeded most; 0: unknown
  std::uint64_t blocks = 0; ///< blocks of one instance, on the rank that has most blocks; 0: unknown

  bool isKnown() const { return times > 1; }
  /// Returns a number of blocks for one instance that likely meets the limits, because the load spreads over these
  /// blocks.
  std::uint64_t enoughBlocks() const;
};

/// Returns how much the thread blocks of `ranks` exceed `limits`. These are the blocks of `instances` instances.
Excess excessOf(std::span<const ir::Rank> ranks, const ExecutorLimits &limits, std::uint32_t instances);

} // namespace mscclc::passes::schedule
