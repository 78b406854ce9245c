// The sizes of a rank's buffers for each collective.
#pragma once

#include "frontend/limits.h"
#include "ir/collectives.h"

#include <cstdint>
#include <optional>

namespace mscclc::frontend {

/// Returns the kind of a recorded collective. The recorded number may be wrong; an unknown number counts as a custom
/// collective.
constexpr ir::CollectiveKind collectiveOf(std::uint32_t recorded) {
  return recorded < ir::collectiveInfos.size() ? static_cast<ir::CollectiveKind>(recorded) : ir::CollectiveKind::Custom;
}

/// In chunks.
struct BufferSizes {
  std::int64_t input;
  std::int64_t output;
};

/// Returns the sizes of a rank's buffers. `first` and `second` are as in __mscclc_collective. Returns nothing if the
/// number of ranks, the chunk factor or a size is out of range.
constexpr std::optional<BufferSizes> bufferSizes(ir::CollectiveKind kind, std::int64_t ranks, std::int64_t first,
                                                 std::int64_t second) {
  if (ir::info(kind).hasExperts)
    first = 1; // until here, `first` is the number of experts
  if (ranks < 1 || ranks > maxRanks || (ir::hasChunkFactor(kind) && first < 1))
    return std::nullopt;
  std::int64_t all = 0;
  if (__builtin_mul_overflow(ranks, first, &all))
    all = -1;
  const ir::CollectiveInfo &info = ir::info(kind);
  const BufferSizes sizes = ir::hasChunkFactor(kind) ? BufferSizes{info.input == ir::Extent::Whole ? all : first,
                                                                   info.output == ir::Extent::Whole ? all : first}
                                                     : BufferSizes{first, second};
  if (sizes.input < 0 || sizes.input > maxChunks || sizes.output < 0 || sizes.output > maxChunks)
    return std::nullopt;
  return sizes;
}

} // namespace mscclc::frontend
