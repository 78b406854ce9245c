#include "sha256.h"

#include <fstream>
#include <vector>

namespace mscclc::nccl {
namespace {

constexpr uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t turn(uint32_t word, unsigned bits) {
  return word >> bits | word << (32 - bits);
}

} // namespace

void Sha256::add(const void *data, size_t bytes) {
  for (const auto *byte = static_cast<const unsigned char *>(data); bytes > 0; --bytes) {
    block_[bytes_++ % sizeof(block_)] = *byte++;
    if (bytes_ % sizeof(block_) == 0)
      addBlock();
  }
}

void Sha256::addBlock() {
  uint32_t words[64];
  for (size_t i = 0; i < 16; ++i)
    words[i] = uint32_t{block_[4 * i]} << 24 | uint32_t{block_[4 * i + 1]} << 16 | uint32_t{block_[4 * i + 2]} << 8 |
               block_[4 * i + 3];
  for (size_t i = 16; i < 64; ++i) {
    const uint32_t x = words[i - 15], y = words[i - 2];
    words[i] =
        words[i - 16] + (turn(x, 7) ^ turn(x, 18) ^ x >> 3) + words[i - 7] + (turn(y, 17) ^ turn(y, 19) ^ y >> 10);
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (size_t i = 0; i < 64; ++i) {
    const uint32_t first =
        h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + constants[i] + words[i];
    const uint32_t second = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const uint32_t added[8] = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; ++i)
    state_[i] += added[i];
}

std::string Sha256::digest() {
  const uint64_t bits = bytes_ * 8;
  const unsigned char end = 0x80, zero = 0;
  add(&end, 1);
  while (bytes_ % sizeof(block_) != sizeof(block_) - sizeof(bits))
    add(&zero, 1);
  unsigned char length[sizeof(bits)];
  for (size_t i = 0; i < sizeof(length); ++i)
    length[i] = static_cast<unsigned char>(bits >> (8 * (sizeof(length) - 1 - i)));
  add(length, sizeof(length));
  std::string text;
  for (const uint32_t word : state_)
    for (int shift = 28; shift >= 0; shift -= 4)
      text += "0123456789abcdef"[word >> shift & 15];
  return text;
}

std::string sha256OfFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  Sha256 digest;
  std::vector<char> part(size_t{1} << 16);
  while (file) {
    file.read(part.data(), static_cast<std::streamsize>(part.size()));
    digest.add(part.data(), static_cast<size_t>(file.gcount()));
  }
  return file.eof() ? digest.digest() : "";
}

} // namespace mscclc::nccl
