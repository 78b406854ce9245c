// Element types, reduce operations, and the accumulator that a fused operation keeps in registers.
#pragma once

#include <math.h>
#include <type_traits>

namespace mscclc::device {

/// IEEE binary16 and bfloat16, by their bits; arithmetic is done in float.
struct Half {
  uint16_t bits;
};
struct Bfloat16 {
  uint16_t bits;
};
/// An element nobody computes with.
struct Byte {
  uint8_t bits;
};

namespace detail {

template <class To, class From> MSCCLC_BOTH To bitCast(const From &from) {
  static_assert(sizeof(To) == sizeof(From), "a bit cast keeps the size");
  To to;
  memcpy(&to, &from, sizeof(To));
  return to;
}

#ifdef __CUDACC__
MSCCLC_DEVICE float toFloat(Half h) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h.bits));
  return f;
}
MSCCLC_DEVICE Half toHalf(float f) {
  Half h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h.bits) : "f"(f));
  return h;
}
#else
inline float toFloat(Half h) {
  const uint32_t sign = uint32_t(h.bits & 0x8000u) << 16, exponent = h.bits >> 10 & 31u, mantissa = h.bits & 0x3ffu;
  if (exponent == 31)
    return bitCast<float>(sign | 0x7f800000u | mantissa << 13);
  if (exponent != 0)
    return bitCast<float>(sign | (exponent + 112u) << 23 | mantissa << 13);
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return sign != 0 ? -magnitude : magnitude;
}
inline Half toHalf(float f) {
  const uint32_t bits = bitCast<uint32_t>(f), magnitude = bits & 0x7fffffffu;
  const uint16_t sign = static_cast<uint16_t>(bits >> 16 & 0x8000u);
  if (magnitude > 0x7f800000u)
    return {static_cast<uint16_t>(sign | 0x7e00u)};
  if (magnitude >= 0x477ff000u) // 65520 and above round to infinity
    return {static_cast<uint16_t>(sign | 0x7c00u)};
  if (magnitude < 0x38800000u) { // below the smallest normal number: the sum leaves its steps of 2^-24 in the mantissa
    const uint32_t steps = bitCast<uint32_t>(bitCast<float>(magnitude) + 0.5f) - 0x3f000000u;
    return {static_cast<uint16_t>(sign | steps)};
  }
  const uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
  return {static_cast<uint16_t>(sign | (rounded - 0x38000000u) >> 13)};
}
#endif
MSCCLC_DEVICE float toFloat(Bfloat16 b) {
  return bitCast<float>(uint32_t{b.bits} << 16);
}
MSCCLC_DEVICE Bfloat16 toBfloat16(float f) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  Bfloat16 b;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(b.bits) : "f"(f));
  return b;
#endif
  const uint32_t bits = bitCast<uint32_t>(f);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return {static_cast<uint16_t>(bits >> 16 | 0x40u)};
  return {static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16)};
}

/// What values of T are accumulated in, and the way there and back.
template <class T> struct Number {
  using Sum = T;
  static MSCCLC_DEVICE T widen(T v) { return v; }
  static MSCCLC_DEVICE T narrow(T v) { return v; }
};
template <> struct Number<Half> {
  using Sum = float;
  static MSCCLC_DEVICE float widen(Half v) { return toFloat(v); }
  static MSCCLC_DEVICE Half narrow(float v) { return toHalf(v); }
};
template <> struct Number<Bfloat16> {
  using Sum = float;
  static MSCCLC_DEVICE float widen(Bfloat16 v) { return toFloat(v); }
  static MSCCLC_DEVICE Bfloat16 narrow(float v) { return toBfloat16(v); }
};
template <> struct Number<int32_t> { // sums wrap around
  using Sum = int32_t;
  static MSCCLC_DEVICE int32_t widen(int32_t v) { return v; }
  static MSCCLC_DEVICE int32_t narrow(int32_t v) { return v; }
};

} // namespace detail

struct Sum {
  static constexpr uint32_t code = MSCCLC_SUM;
  template <class V> static MSCCLC_DEVICE V apply(V a, V b) { return static_cast<V>(a + b); }
  static MSCCLC_DEVICE int32_t apply(int32_t a, int32_t b) {
    return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
  }
};
/// Of a number and a NaN, the least and the greatest are the number, whatever their order, as in the network's own
/// reductions; of NaNs alone, NaN. A sum with a NaN is NaN.
struct Min {
  static constexpr uint32_t code = MSCCLC_MIN;
  template <class V> static MSCCLC_DEVICE V apply(V a, V b) { return b < a ? b : a; }
  static MSCCLC_DEVICE float apply(float a, float b) { return fminf(a, b); }
};
struct Max {
  static constexpr uint32_t code = MSCCLC_MAX;
  template <class V> static MSCCLC_DEVICE V apply(V a, V b) { return a < b ? b : a; }
  static MSCCLC_DEVICE float apply(float a, float b) { return fmaxf(a, b); }
};
/// Of a plan that reduces nothing, or not with one operation throughout.
struct NoReduce {
  static constexpr uint32_t code = MSCCLC_NO_REDUCE;
};
struct MixedReduce {
  static constexpr uint32_t code = MSCCLC_MIXED_REDUCE;
};

template <class T> struct DtypeOf;
template <> struct DtypeOf<float> {
  static constexpr uint32_t code = MSCCLC_F32;
};
template <> struct DtypeOf<Half> {
  static constexpr uint32_t code = MSCCLC_F16;
};
template <> struct DtypeOf<Bfloat16> {
  static constexpr uint32_t code = MSCCLC_BF16;
};
template <> struct DtypeOf<int32_t> {
  static constexpr uint32_t code = MSCCLC_I32;
};
template <> struct DtypeOf<uint32_t> {
  static constexpr uint32_t code = MSCCLC_U32;
};
template <> struct DtypeOf<uint8_t> {
  static constexpr uint32_t code = MSCCLC_U8;
};
template <> struct DtypeOf<Byte> {
  static constexpr uint32_t code = MSCCLC_ANY_DTYPE;
};

namespace detail {

/// A word (one element, or several packed) being reduced. Half and bfloat16 stay float until the end.
template <class T, class Op, class Word> class Accumulator {
  static constexpr unsigned count = sizeof(Word) / sizeof(T);
  static_assert(sizeof(Word) % sizeof(T) == 0, "a word holds whole elements");
  struct Elements {
    T e[count];
  };

public:
  MSCCLC_DEVICE void start(const Word &word) {
    const Elements in = bitCast<Elements>(word);
    MSCCLC_UNROLL
    for (unsigned i = 0; i < count; ++i)
      sum_[i] = Number<T>::widen(in.e[i]);
  }
  MSCCLC_DEVICE void add(const Word &word) {
    const Elements in = bitCast<Elements>(word);
    MSCCLC_UNROLL
    for (unsigned i = 0; i < count; ++i)
      sum_[i] = Op::apply(sum_[i], Number<T>::widen(in.e[i]));
  }
  MSCCLC_DEVICE Word result() const {
    Elements out;
    MSCCLC_UNROLL
    for (unsigned i = 0; i < count; ++i)
      out.e[i] = Number<T>::narrow(sum_[i]);
    return bitCast<Word>(out);
  }

private:
  typename Number<T>::Sum sum_[count] = {};
};

/// A single source: the word itself.
template <class Word> class Passing {
public:
  MSCCLC_DEVICE void start(const Word &word) { word_ = word; }
  MSCCLC_DEVICE void add(const Word &) {}
  MSCCLC_DEVICE Word result() const { return word_; }

private:
  Word word_{};
};

} // namespace detail
} // namespace mscclc::device
