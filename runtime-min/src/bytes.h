// Messages between processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mscclc::rt {

using Bytes = std::vector<uint8_t>;

/// Returns the bytes of `count` plain values.
template <class T> Bytes bytesOf(const T *values, size_t count) {
  const auto *begin = reinterpret_cast<const uint8_t *>(values);
  return Bytes(begin, begin + count * sizeof(T));
}

} // namespace mscclc::rt
