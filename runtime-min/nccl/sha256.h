#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace mscclc::nccl {

/// SHA-256 (FIPS 180-4). It is implemented here, because a library that is preloaded into any program should not need
/// other libraries.
class Sha256 {
public:
  void add(const void *data, size_t bytes);
  /// Returns 64 hexadecimal digits, in lower case. Nothing may be added afterwards.
  std::string digest();

private:
  void addBlock();

  uint32_t state_[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  unsigned char block_[64] = {};
  uint64_t bytes_ = 0;
};

/// Returns the digest of a file's content; empty if it cannot be read.
std::string sha256OfFile(const std::string &path);

} // namespace mscclc::nccl
