// Elements of the rows that a combine adds, for experts_client.
#pragma once

#include "mscclc/narrow_floats.h"
#include "mscclc/runtime_abi.h"

#include <cstdint>
#include <cstring>

namespace mscclc::test {

/// Reads and writes elements of a type of a combine.
struct Element {
  uint64_t bytes;
  float (*read)(const unsigned char *);
  void (*write)(unsigned char *, float);
};
template <float (*Decode)(uint16_t), uint16_t (*Encode)(float)> Element narrowElement() {
  return {2,
          [](const unsigned char *at) {
            uint16_t bits = 0;
            std::memcpy(&bits, at, sizeof bits);
            return Decode(bits);
          },
          [](unsigned char *at, float value) {
            const uint16_t bits = Encode(value);
            std::memcpy(at, &bits, sizeof bits);
          }};
}
inline Element elementOf(uint32_t dtype) {
  switch (dtype) {
  case MSCCLC_F16:
    return narrowElement<narrow::decode<narrow::Binary16>, narrow::encode<narrow::Binary16>>();
  case MSCCLC_BF16:
    return narrowElement<narrow::decodeBfloat16, narrow::encodeBfloat16>();
  case MSCCLC_F32:
    return {4,
            [](const unsigned char *at) {
              float value = 0;
              std::memcpy(&value, at, sizeof value);
              return value;
            },
            [](unsigned char *at, float value) { std::memcpy(at, &value, sizeof value); }};
  default:
    return {1, nullptr, nullptr};
  }
}

} // namespace mscclc::test
