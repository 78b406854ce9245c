// Finds the waits of a thread block that are alone: between two syncs of the block, no other wait is on the same
// channel or semaphore.
#pragma once

#include "ir/program.h"

#include <vector>

namespace mscclc::passes {

/// Finds out which waits of one block are alone.
class ExclusiveWaits {
public:
  /// Reads the waits and acquires of `block`.
  void start(const ir::ThreadBlock &block);

  /// True if a single thread waits on each channel or semaphore of operation `index`, in the phase of the operation.
  /// Thread i waits on the i-th channel or semaphore of an operation. Consecutive acquires count as one operation,
  /// because a semaphore counts correctly whichever thread acquires it, and nothing happens between them.
  bool has(std::uint32_t index) const { return alone_[index]; }

private:
  /// A wait of one thread.
  struct Use {
    std::uint32_t phase, type, id;
    std::uint32_t op;
    std::uint32_t run; ///< the first of consecutive acquires; otherwise `op`
    std::uint32_t thread;
  };
  std::vector<std::uint32_t> phases_; ///< by operation
  std::vector<Use> uses_;
  std::vector<bool> alone_; ///< by operation
};

} // namespace mscclc::passes
