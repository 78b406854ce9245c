// Short digests of texts, which ranks compare.
#pragma once

#include <cstdint>
#include <string_view>

namespace mscclc::nccl {

/// FNV-1a of 64 bits. `before`: the digest of what comes before the text.
inline uint64_t digestOf(std::string_view text, uint64_t before = 14695981039346656037u) {
  for (const char c : text)
    before = (before ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return before;
}

} // namespace mscclc::nccl
