// Which waits for a launch acquire. A relaxed signal says that its rank has begun the launch. What that rank, and its
// users, wrote before can be seen by a peer's device only where the peer acquires (PTX ISA, causality order). So a
// relaxed wait acquires where reads of other ranks' memory may follow it: in its own block, or in blocks that learn of
// it by signals, semaphores and barriers. Packets tell of nothing but themselves, and a rank's own memory is where its
// device sees it: there the wait stays relaxed.
#pragma once

#include "ir/program.h"

#include <cstddef>
#include <vector>

namespace mscclc::cuda {

class RemoteReads {
public:
  explicit RemoteReads(const ir::Program &program);

  /// True if reads of other ranks' memory may follow operation `op` of a block.
  bool mayFollow(std::size_t rank, std::size_t block, std::size_t op) const { return op < horizon_[rank][block]; }

private:
  std::vector<std::vector<std::size_t>> horizon_; ///< by rank and block: operations that such reads may follow
};

} // namespace mscclc::cuda
