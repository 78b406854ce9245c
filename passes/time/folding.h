// Parts of a program that need not be walked, because other parts do the same at the same time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mscclc::passes::time {

/// A part of a program that is walked for all of it.
struct Folding {
  std::uint32_t instances = 1; ///< of so many neighbouring blocks, only the first one is walked
  bool ranks = false;          ///< only rank 0 is walked, for all ranks

  /// True if the block is walked.
  bool walks(std::uint32_t rank, std::size_t block) const { return block % instances == 0 && (!ranks || rank == 0); }
};

} // namespace mscclc::passes::time
