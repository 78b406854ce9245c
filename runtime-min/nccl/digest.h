// Short digests of texts, for comparison between ranks.
#pragma once

#include <cstdint>
#include <string_view>

namespace mscclc::nccl {

/// Returns the 64-bit FNV-1a digest of `text`. `before` is the digest of the preceding text.
inline uint64_t digestOf(std::string_view text, uint64_t before = 14695981039346656037u) {
  for (const char c : text)
    before = (before ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return before;
}

} // namespace mscclc::nccl
