// The resources of a GPU's multiprocessor for thread blocks, and the number of blocks that fit at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace mscclc::passes {

/// The resources of a multiprocessor that a thread block needs.
struct BlockNeeds {
  std::uint32_t threads = 1;
  std::uint32_t registersPerThread = 0; ///< 0: not a limit
  std::uint32_t sharedBytes = 0;        ///< shared memory; 0: not a limit
};

/// The resources of a GPU. Threads and registers are from the CUDA C++ Programming Guide, technical specifications.
/// They are equal for compute capabilities 8.0, 9.0 and 10.0. The defaults are those of 9.0.
struct GpuLimits {
  std::uint32_t multiprocessors = 1;
  std::uint32_t blocksPerMultiprocessor = 32;
  std::uint32_t sharedBytes = 228 << 10; ///< shared memory of a multiprocessor
  static constexpr std::uint32_t threadsPerMultiprocessor = 2048, registersPerMultiprocessor = 65536, warp = 32;

  /// Returns the number of blocks that a multiprocessor holds at once. It is at least 1, because the launch fails
  /// otherwise.
  constexpr std::uint32_t residentOnEach(const BlockNeeds &block) const {
    const std::uint32_t threads = (std::max(block.threads, 1u) + warp - 1) / warp * warp;
    const auto share = [](std::uint32_t all, std::uint32_t each) {
      return each == 0 ? std::numeric_limits<std::uint32_t>::max() : all / each;
    };
    return std::max(1u, std::min({blocksPerMultiprocessor, share(threadsPerMultiprocessor, threads),
                                  share(registersPerMultiprocessor, threads * block.registersPerThread),
                                  share(sharedBytes, block.sharedBytes)}));
  }
};

} // namespace mscclc::passes
