// Finds the waits of a thread block that are the only ones on their channels or semaphores between two syncs of the
// block.
#pragma once

#include "ir/program.h"

#include <vector>

namespace mscclc::passes {

/// Answers this question for the waits of one block.
class ExclusiveWaits {
public:
  /// Reads the waits and acquires of `block`.
  void start(const ir::ThreadBlock &block);

  /// True if, in that phase, a single thread waits on each channel or semaphore of operation `index`. Thread i waits on
  /// the i-th one of an operation. Consecutive acquires count as one operation, because a semaphore counts correctly
  /// whichever thread acquires it, and nothing happens between them.
  bool has(std::uint32_t index) const { return alone_[index]; }

private:
  /// A wait of one thread.
  struct Use {
    std::uint32_t phase, type, id;
    std::uint32_t op;
    std::uint32_t run; ///< the first one of consecutive acquires, else op
    std::uint32_t thread;
  };
  std::vector<std::uint32_t> phases_; ///< by operation
  std::vector<Use> uses_;
  std::vector<bool> alone_; ///< by operation
};

} // namespace mscclc::passes
