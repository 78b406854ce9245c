// What a GPU holds at once. Blocks that wait for one another must all be resident, or those that run wait for ever for
// those that never begin.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace mscclc::passes {

struct GpuLimits {
  std::string_view name;
  std::uint32_t multiprocessors;
  std::uint32_t threadsPerMultiprocessor;
  std::uint32_t blocksPerMultiprocessor;

  /// Most blocks of `threads` threads that are resident together; registers and shared memory may allow for fewer.
  constexpr std::uint64_t residentBlocks(std::uint32_t threads) const {
    const std::uint64_t warps = (std::uint64_t{std::max(threads, 1u)} + 31) / 32;
    return multiprocessors * std::min<std::uint64_t>(blocksPerMultiprocessor, threadsPerMultiprocessor / 32 / warps);
  }
};

/// Multiprocessors: "NVIDIA H100 Tensor Core GPU Architecture", H100 SXM5. The rest: CUDA C++ Programming Guide,
/// technical specifications of compute capability 9.0.
inline constexpr GpuLimits h100{"H100", 132, 2048, 32};

} // namespace mscclc::passes
