// Sizes of a rank's buffers under each collective.
#pragma once

#include "frontend/limits.h"
#include "frontend/trace/record_abi.h"

#include <cstdint>
#include <optional>

namespace mscclc::frontend {

/// In chunks.
struct BufferSizes {
  std::int64_t input;
  std::int64_t output;
};

/// `first` and `second` are the chunk factor and 0, or the two sizes themselves; see __mscclc_collective. Nothing if a
/// size does not fit.
constexpr std::optional<BufferSizes> bufferSizes(detail::CollectiveKind kind, std::int64_t ranks, std::int64_t first,
                                                 std::int64_t second) {
  std::int64_t all = 0;
  if (__builtin_mul_overflow(ranks, first, &all))
    all = -1;
  BufferSizes sizes{};
  switch (kind) {
  case detail::CollectiveKind::AllGather:
    sizes = {first, all};
    break;
  case detail::CollectiveKind::AllReduce:
  case detail::CollectiveKind::AllToAll:
    sizes = {all, all};
    break;
  case detail::CollectiveKind::ReduceScatter:
    sizes = {all, first};
    break;
  case detail::CollectiveKind::SendRecv:
    sizes = {first, first};
    break;
  case detail::CollectiveKind::Test:
  case detail::CollectiveKind::Custom:
    sizes = {first, second};
    break;
  }
  if (sizes.input < 0 || sizes.input > maxChunks || sizes.output < 0 || sizes.output > maxChunks)
    return std::nullopt;
  return sizes;
}

} // namespace mscclc::frontend
