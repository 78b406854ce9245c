// Finds the waits at the beginning of a launch that must acquire.
//
// A relaxed signal means that its rank has begun the launch. Before that, the rank and its users wrote data. A peer's
// device is sure to see that data only if the peer acquires (PTX ISA, causality order). So a relaxed wait acquires if
// reads of other ranks' memory may follow it. They may follow in its own block, or in blocks that it reaches by
// signals, semaphores and barriers. Packets carry their own flags, and a device sees its own rank's memory, so before
// those the wait stays relaxed.
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
  std::vector<std::vector<std::size_t>> horizon_; ///< [rank][block]: number of operations that such reads may follow
};

} // namespace mscclc::cuda
