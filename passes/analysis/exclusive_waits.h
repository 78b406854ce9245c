// Which waits of a thread block have their channels or semaphores to themselves between two syncs of the block.
#pragma once

#include "ir/program.h"

#include <vector>

namespace mscclc::passes {

class ExclusiveWaits {
public:
  /// For the waits and acquires of `block` as it is now.
  void start(const ir::ThreadBlock &block);

  /// True if one thread alone waits, in that phase, on each of what operation `index` waits on. Thread i waits on the
  /// i-th of what an operation names. Acquires in a row count as one: a semaphore counts right whichever thread
  /// acquires it, and nothing happens between them.
  bool has(std::uint32_t index) const { return alone_[index]; }

private:
  /// What one thread waits on.
  struct Use {
    std::uint32_t phase, type, id;
    std::uint32_t op;
    std::uint32_t run; ///< of acquires in a row the first, else op
    std::uint32_t thread;
  };
  std::vector<std::uint32_t> phases_; ///< by operation
  std::vector<Use> uses_;
  std::vector<bool> alone_; ///< by operation
};

} // namespace mscclc::passes
