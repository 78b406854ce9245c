// Floating-point numbers of 8 and 16 bits, as bits, for machines without instructions for them.
#pragma once

#include <cstdint>
#include <cstring>

#ifndef MSCCLC_BOTH
#define MSCCLC_BOTH inline
#endif

namespace mscclc::narrow {

/// A format: a sign, an exponent with bias `Bias`, and `Mantissa` bits. `Largest`, `Overflow` and `Nan` are bits
/// without the sign. Values up to `Largest` are finite. A larger result becomes `Overflow`. Conversions represent a NaN
/// by `Nan`.
template <class BitsT, unsigned Mantissa, int Bias, uint32_t Largest, uint32_t Overflow, uint32_t Nan> struct Format {
  using Bits = BitsT;
  static constexpr unsigned signAt = sizeof(Bits) * 8 - 1, mantissa = Mantissa;
  static constexpr int bias = Bias;
  static constexpr uint32_t largest = Largest, overflow = Overflow, nan = Nan;
};

/// IEEE binary16. Larger results become infinite.
using Binary16 = Format<uint16_t, 10, 15, 0x7bff, 0x7c00, 0x7e00>;
/// The 8-bit formats of the Open Compute Project. Larger results become the largest number of the format, as in NCCL
/// and in CUDA's conversions with saturation. E4M3 has no infinity.
using E4m3 = Format<uint8_t, 3, 7, 0x7e, 0x7e, 0x7f>;
using E5m2 = Format<uint8_t, 2, 15, 0x7b, 0x7b, 0x7f>;

MSCCLC_BOTH uint32_t bitsOf(float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return bits;
}
MSCCLC_BOTH float floatOf(uint32_t bits) {
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}
/// Returns 2^`exponent`, which must be a normal number.
MSCCLC_BOTH float powerOfTwo(int exponent) {
  return floatOf(static_cast<uint32_t>(exponent + 127) << 23);
}

/// Returns the exact value of `bits`.
template <class F> MSCCLC_BOTH float decode(typename F::Bits bits) {
  const uint32_t sign = uint32_t{bits} >> F::signAt << 31, magnitude = bits & ((1u << F::signAt) - 1);
  constexpr uint32_t infinity =
      (F::largest | ((1u << F::mantissa) - 1)) + 1; // infinity, or the sign bit if the format has no infinity
  if (magnitude >= infinity)
    return floatOf(sign | 0x7f800000u | (magnitude - infinity) << (23 - F::mantissa));
  if (magnitude > F::largest)
    return floatOf(sign | 0x7fc00000u);
  if (magnitude >> F::mantissa == 0) {
    const float value = static_cast<float>(magnitude) * powerOfTwo(1 - F::bias - static_cast<int>(F::mantissa));
    return sign != 0 ? -value : value;
  }
  return floatOf(sign | ((magnitude << (23 - F::mantissa)) + (static_cast<uint32_t>(127 - F::bias) << 23)));
}

/// Returns the nearest number of the format. If two are equally near, returns the even one.
template <class F> MSCCLC_BOTH typename F::Bits encode(float f) {
  using Bits = typename F::Bits;
  constexpr unsigned dropped = 23 - F::mantissa;
  const uint32_t bits = bitsOf(f), magnitude = bits & 0x7fffffffu, sign = bits >> 31 << F::signAt;
  if (magnitude > 0x7f800000u)
    return static_cast<Bits>(F::nan);
  uint32_t rounded;
  if (magnitude < static_cast<uint32_t>(128 - F::bias) << 23) {
    // For a value below the smallest normal number, the mantissa of the sum is the number of subnormal steps.
    const float steps = powerOfTwo(24 - F::bias - static_cast<int>(F::mantissa));
    rounded = bitsOf(floatOf(magnitude) + steps) - bitsOf(steps);
  } else {
    rounded = (magnitude + ((1u << (dropped - 1)) - 1) + (magnitude >> dropped & 1u) -
               (static_cast<uint32_t>(127 - F::bias) << 23)) >>
              dropped;
  }
  return static_cast<Bits>(sign | (rounded > F::largest ? F::overflow : rounded));
}

/// Converts from and to bfloat16, which is the upper half of a float.
MSCCLC_BOTH float decodeBfloat16(uint16_t bits) {
  return floatOf(uint32_t{bits} << 16);
}
MSCCLC_BOTH uint16_t encodeBfloat16(float f) {
  const uint32_t bits = bitsOf(f);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return static_cast<uint16_t>(bits >> 16 | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

} // namespace mscclc::narrow
