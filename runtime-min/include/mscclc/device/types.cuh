// Element types, reduce operations, and the accumulator that a fused operation keeps in registers.
#pragma once

#include "mscclc/narrow_floats.h"

#include <math.h>
#include <type_traits>

namespace mscclc::device {

/// IEEE binary16 and bfloat16, as bits. Arithmetic is done in float.
struct Half {
  uint16_t bits;
};
struct Bfloat16 {
  uint16_t bits;
};
/// The 8-bit formats of the Open Compute Project. Arithmetic is done in float. Larger results become the largest number
/// of the format, with their sign.
struct Float8E4m3 {
  using Format = narrow::E4m3;
  uint8_t bits;
};
struct Float8E5m2 {
  using Format = narrow::E5m2;
  uint8_t bits;
};
/// An element that is only moved.
struct Byte {
  uint8_t bits;
};

// Correctly rounded arithmetic, independent of the options of the compiler. A multiplication is never contracted with a
// sum.
#ifdef __CUDA_ARCH__
MSCCLC_DEVICE float add(float a, float b) {
  return __fadd_rn(a, b);
}
MSCCLC_DEVICE float multiply(float a, float b) {
  return __fmul_rn(a, b);
}
MSCCLC_DEVICE float divide(float a, float b) {
  return __fdiv_rn(a, b);
}
MSCCLC_DEVICE float squareRoot(float a) {
  return __fsqrt_rn(a);
}
#else
inline float add(float a, float b) {
  return a + b;
}
inline float multiply(float a, float b) {
  const volatile float product = a * b;
  return product;
}
inline float divide(float a, float b) {
  return a / b;
}
inline float squareRoot(float a) {
  return sqrtf(a);
}
#endif

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
  return narrow::decode<narrow::Binary16>(h.bits);
}
inline Half toHalf(float f) {
  return {narrow::encode<narrow::Binary16>(f)};
}
#endif
MSCCLC_DEVICE float toFloat(Bfloat16 b) {
  return narrow::decodeBfloat16(b.bits);
}
MSCCLC_DEVICE Bfloat16 toBfloat16(float f) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  Bfloat16 b;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(b.bits) : "f"(f));
  return b;
#else
  return {narrow::encodeBfloat16(f)};
#endif
}

// 8-bit floats are converted in pairs, because the hardware's instructions take and give pairs.
template <class T> struct Pair {
  T low, high;
};
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
MSCCLC_DEVICE Pair<float> toFloats(uint32_t halves) {
  Pair<float> f;
  asm("{ .reg .f16 low, high; mov.b32 {low, high}, %2; cvt.f32.f16 %0, low; cvt.f32.f16 %1, high; }"
      : "=f"(f.low), "=f"(f.high)
      : "r"(halves));
  return f;
}
MSCCLC_DEVICE Pair<float> toFloats(Pair<Float8E4m3> v) {
  uint32_t halves;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(bitCast<uint16_t>(v)));
  return toFloats(halves);
}
MSCCLC_DEVICE Pair<float> toFloats(Pair<Float8E5m2> v) {
  uint32_t halves;
  asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(halves) : "h"(bitCast<uint16_t>(v)));
  return toFloats(halves);
}
MSCCLC_DEVICE void fromFloats(Pair<float> f, Pair<Float8E4m3> &v) {
  uint16_t bits;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(bits) : "f"(f.high), "f"(f.low));
  v = bitCast<Pair<Float8E4m3>>(bits);
}
MSCCLC_DEVICE void fromFloats(Pair<float> f, Pair<Float8E5m2> &v) {
  uint16_t bits;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(bits) : "f"(f.high), "f"(f.low));
  v = bitCast<Pair<Float8E5m2>>(bits);
}
#else
template <class T> MSCCLC_DEVICE Pair<float> toFloats(Pair<T> v) {
  return {narrow::decode<typename T::Format>(v.low.bits), narrow::decode<typename T::Format>(v.high.bits)};
}
template <class T> MSCCLC_DEVICE void fromFloats(Pair<float> f, Pair<T> &v) {
  v = {{narrow::encode<typename T::Format>(f.low)}, {narrow::encode<typename T::Format>(f.high)}};
}
#endif

/// The type in which values of T are accumulated, and the conversions of N values to this type and back.
template <class T> struct Number {
  using Sum = T;
  template <unsigned N> static MSCCLC_DEVICE void widen(const T (&from)[N], T (&to)[N]) {
    MSCCLC_UNROLL
    for (unsigned i = 0; i < N; ++i)
      to[i] = from[i];
  }
  template <unsigned N> static MSCCLC_DEVICE void narrow(const T (&from)[N], T (&to)[N]) { widen(from, to); }
};
/// Values of T are accumulated in float.
template <class T, T (*Narrow)(float)> struct NarrowNumber {
  using Sum = float;
  template <unsigned N> static MSCCLC_DEVICE void widen(const T (&from)[N], float (&to)[N]) {
    MSCCLC_UNROLL
    for (unsigned i = 0; i < N; ++i)
      to[i] = toFloat(from[i]);
  }
  template <unsigned N> static MSCCLC_DEVICE void narrow(const float (&from)[N], T (&to)[N]) {
    MSCCLC_UNROLL
    for (unsigned i = 0; i < N; ++i)
      to[i] = Narrow(from[i]);
  }
};
template <> struct Number<Half> : NarrowNumber<Half, toHalf> {};
template <> struct Number<Bfloat16> : NarrowNumber<Bfloat16, toBfloat16> {};
/// Values of T are accumulated in float, and converted in pairs. If N is odd, the last value is converted together with
/// a value that is not used.
template <class T> struct PairedNumber {
  using Sum = float;
  template <unsigned N> static MSCCLC_DEVICE void widen(const T (&from)[N], float (&to)[N]) {
    MSCCLC_UNROLL
    for (unsigned i = 0; i < N; i += 2) {
      const Pair<float> wide = toFloats(Pair<T>{from[i], from[i + 1 < N ? i + 1 : i]});
      to[i] = wide.low;
      if (i + 1 < N)
        to[i + 1] = wide.high;
    }
  }
  template <unsigned N> static MSCCLC_DEVICE void narrow(const float (&from)[N], T (&to)[N]) {
    MSCCLC_UNROLL
    for (unsigned i = 0; i < N; i += 2) {
      Pair<T> both;
      fromFloats({from[i], from[i + 1 < N ? i + 1 : i]}, both);
      to[i] = both.low;
      if (i + 1 < N)
        to[i + 1] = both.high;
    }
  }
};
template <> struct Number<Float8E4m3> : PairedNumber<Float8E4m3> {};
template <> struct Number<Float8E5m2> : PairedNumber<Float8E5m2> {};

/// The type in which integers of type V are added and multiplied. It is unsigned, because the results wrap around.
template <class V>
using Wrapping = std::conditional_t<(sizeof(V) < sizeof(uint32_t)), uint32_t, std::make_unsigned_t<V>>;

} // namespace detail

struct Sum {
  static constexpr uint32_t code = MSCCLC_SUM;
  template <class V> static MSCCLC_DEVICE V apply(V a, V b) {
    if constexpr (std::is_integral_v<V>)
      return static_cast<V>(static_cast<detail::Wrapping<V>>(a) + static_cast<detail::Wrapping<V>>(b));
    else
      return a + b;
  }
};
struct Prod {
  static constexpr uint32_t code = MSCCLC_PROD;
  template <class V> static MSCCLC_DEVICE V apply(V a, V b) {
    if constexpr (std::is_integral_v<V>)
      return static_cast<V>(static_cast<detail::Wrapping<V>>(a) * static_cast<detail::Wrapping<V>>(b));
    else
      return a * b;
  }
};
/// The minimum and the maximum of a number and a NaN are the number, in either order, as in the network's reductions.
/// If both are NaN, the result is NaN. A sum or product with a NaN is NaN.
struct Min {
  static constexpr uint32_t code = MSCCLC_MIN;
  template <class V> static MSCCLC_DEVICE V apply(V a, V b) { return b < a ? b : a; }
  static MSCCLC_DEVICE float apply(float a, float b) { return fminf(a, b); }
  static MSCCLC_DEVICE double apply(double a, double b) { return fmin(a, b); }
};
struct Max {
  static constexpr uint32_t code = MSCCLC_MAX;
  template <class V> static MSCCLC_DEVICE V apply(V a, V b) { return a < b ? b : a; }
  static MSCCLC_DEVICE float apply(float a, float b) { return fmaxf(a, b); }
  static MSCCLC_DEVICE double apply(double a, double b) { return fmax(a, b); }
};
/// The operation of a plan that reduces nothing (NoReduce), or that uses several operations (MixedReduce).
struct NoReduce {
  static constexpr uint32_t code = MSCCLC_NO_REDUCE;
};
struct MixedReduce {
  static constexpr uint32_t code = MSCCLC_MIXED_REDUCE;
};

template <class T> struct DtypeOf;
#define MSCCLC_DTYPE(id, number, bytes, name, type)                                                                    \
  template <> struct DtypeOf<type> {                                                                                   \
    static constexpr uint32_t code = MSCCLC_##id;                                                                      \
    static_assert(sizeof(type) == bytes, "a type has the size that the runtime takes it for");                         \
  };
#include "mscclc/dtypes.def"
template <> struct DtypeOf<Byte> {
  static constexpr uint32_t code = MSCCLC_ANY_DTYPE;
};

namespace detail {

/// The accumulator of a word, which is one element or several packed elements. Floats of less than 32 bits are
/// accumulated as float, and rounded at the end.
template <class T, class Op, class Word> class Accumulator {
  static constexpr unsigned count = sizeof(Word) / sizeof(T);
  static_assert(sizeof(Word) % sizeof(T) == 0, "a word holds whole elements");
  struct Elements {
    T e[count];
  };
  using Wide = typename Number<T>::Sum;

public:
  MSCCLC_DEVICE void start(const Word &word) { Number<T>::widen(bitCast<Elements>(word).e, sum_); }
  MSCCLC_DEVICE void add(const Word &word) {
    Wide wide[count];
    Number<T>::widen(bitCast<Elements>(word).e, wide);
    MSCCLC_UNROLL
    for (unsigned i = 0; i < count; ++i)
      sum_[i] = Op::apply(sum_[i], wide[i]);
  }
  MSCCLC_DEVICE Word result() const {
    Elements out;
    Number<T>::narrow(sum_, out.e);
    return bitCast<Word>(out);
  }

private:
  Wide sum_[count] = {};
};

/// The accumulator of a single source: the word itself.
template <class Word> class Passing {
public:
  MSCCLC_DEVICE void start(const Word &word) { word_ = word; }
  MSCCLC_DEVICE void add(const Word &) {}
  MSCCLC_DEVICE Word result() const { return word_; }

private:
  Word word_{};
};

/// The place of an operation's first operand in the order of addition: before the others, or after `others` of them.
struct AddedFirst {};
struct AddedAfter {
  unsigned others;
};

/// An accumulator that adds its first operand after `others` of the operands behind it. Until then, the first operand
/// waits in registers. Each step compares with the number `others`, so that ranks with different numbers run the same
/// code.
template <class Sum, class Word> class DelayedFirst {
public:
  MSCCLC_DEVICE void start(const Word &word, unsigned others = 0) {
    waiting_ = word;
    others_ = others;
  }
  MSCCLC_DEVICE void add(const Word &word) {
    const bool isAfter = added_ >= others_;
    const Word next = isAfter ? waiting_ : word;
    if (added_ == 0)
      sum_.start(next);
    else
      sum_.add(next);
    if (isAfter)
      waiting_ = word;
    ++added_;
  }
  MSCCLC_DEVICE Word result() {
    sum_.add(waiting_);
    return sum_.result();
  }

private:
  Sum sum_;
  Word waiting_{};
  unsigned others_ = 0, added_ = 0;
};

template <class Acc, class Word> MSCCLC_DEVICE void startSum(Acc &acc, AddedFirst, const Word &first) {
  acc.start(first);
}
template <class Acc, class Word> MSCCLC_DEVICE void startSum(Acc &acc, AddedAfter place, const Word &first) {
  acc.start(first, place.others);
}

} // namespace detail
} // namespace mscclc::device
