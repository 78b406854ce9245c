// Finds equivalent parts of a program, which do the same at the same time. The walk visits one part of each class.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mscclc::passes::time {

/// The part of a program that the walk visits. The rest is equivalent to it.
struct Folding {
  std::uint32_t instances = 1; ///< only the first of this many neighbouring blocks is walked
  bool ranks = false;          ///< true if only rank 0 is walked, because all ranks are equivalent

  /// True if the block is walked.
  bool walks(std::uint32_t rank, std::size_t block) const { return block % instances == 0 && (!ranks || rank == 0); }
};

} // namespace mscclc::passes::time
