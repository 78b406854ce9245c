// How many thread blocks to ask for where an executor refuses those that were tried.
#pragma once

#include "ir/program.h"
#include "passes/executor_limits.h"

#include <cstdint>
#include <optional>
#include <span>

namespace mscclc::passes::schedule {

/// By how much a program passes the limits of an executor.
struct Excess {
  double times = 0;         ///< what it takes of the limit that it passes most, of those that more blocks help with
  std::uint64_t blocks = 0; ///< of the rank that has the most, in one instance; 0: nothing is known
};

/// Of thread blocks of ranks with so many instances in them.
Excess excessOf(std::span<const ir::Rank> ranks, const ExecutorLimits &limits, std::uint32_t instances);

/// A search for the number of blocks that fits, from one that is refused to the next. Operations and channels of a
/// block have a part that stays the same, and one that gets smaller as there are more blocks: the last two that were
/// refused tell the two apart.
class BlockSearch {
public:
  struct Ask {
    std::uint32_t blocks = 1, instances = 1;
    friend bool operator==(const Ask &, const Ask &) = default;
  };
  /// `most`: blocks of all instances. What is not `anyBlocks` or `anyInstances` stays as it is.
  BlockSearch(std::uint32_t most, bool anyBlocks, bool anyInstances)
      : most_(most), anyBlocks_(anyBlocks), anyInstances_(anyInstances) {}

  /// Begins with `ask`, whatever was refused before.
  void begin(Ask ask) { next_ = ask; }
  /// What was asked for is refused.
  void refuse(Ask ask, Excess excess);
  /// What to ask for; nothing if there is nothing left.
  std::optional<Ask> next() const { return next_; }

private:
  std::uint64_t enoughBlocks(Ask ask, Excess excess) const;

  std::uint32_t most_;
  bool anyBlocks_, anyInstances_;
  Excess last_;
  std::optional<Ask> next_;
};

} // namespace mscclc::passes::schedule
