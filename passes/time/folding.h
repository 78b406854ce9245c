// What of a program need not be walked, because it does the same at the same time as what is.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mscclc::passes::time {

/// A part of a program that is walked for all of it.
struct Folding {
  std::uint32_t instances = 1; ///< of each run of so many blocks, the first
  bool ranks = false;          ///< of all ranks, rank 0

  /// True if the block is walked.
  bool walks(std::uint32_t rank, std::size_t block) const { return block % instances == 0 && (!ranks || rank == 0); }
};

} // namespace mscclc::passes::time
