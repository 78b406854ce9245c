// Tests the arithmetic of kernels, which the device headers do in plain C++.
#include "catch.h"
#include "mscclc/hooks.cuh"

#include <cmath>
#include <limits>
#include <vector>

using namespace mscclc::device;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(), noNumber = std::numeric_limits<float>::quiet_NaN();

template <class T> struct Pair {
  T e[2];
};

/// Values reduced as one fused operation does it.
template <class T, class Op> T fused(std::initializer_list<T> values) {
  detail::Accumulator<T, Op, Pair<T>> acc;
  bool fresh = true;
  for (const T v : values) {
    fresh ? acc.start({{v, v}}) : acc.add({{v, v}});
    fresh = false;
  }
  return acc.result().e[1];
}

template <class T, class Op> float narrow(std::initializer_list<float> values, T (*from)(float), float (*to)(T)) {
  detail::Accumulator<T, Op, T> acc;
  bool fresh = true;
  for (const float v : values) {
    fresh ? acc.start(from(v)) : acc.add(from(v));
    fresh = false;
  }
  return to(acc.result());
}
template <class Op> float half(std::initializer_list<float> values) {
  return narrow<Half, Op>(values, detail::toHalf, detail::toFloat);
}
template <class Op> float bfloat(std::initializer_list<float> values) {
  return narrow<Bfloat16, Op>(values, detail::toBfloat16, detail::toFloat);
}

template <class T> float eightBits(T v) {
  return detail::toFloats(detail::Pair<T>{v, v}).low;
}
template <class T> T toEightBits(float f) {
  detail::Pair<T> both;
  detail::fromFloats({0, f}, both);
  return both.high;
}
template <class Op> float e4m3(std::initializer_list<float> values) {
  return narrow<Float8E4m3, Op>(values, toEightBits, eightBits);
}
template <class Op> float e5m2(std::initializer_list<float> values) {
  return narrow<Float8E5m2, Op>(values, toEightBits, eightBits);
}

/// The number that the positive `bits` stand for, by the definition of formats.
double defined(unsigned bits, int mantissaBits, int bias) {
  const int exponent = static_cast<int>(bits >> mantissaBits),
            mantissa = static_cast<int>(bits) & ((1 << mantissaBits) - 1);
  return exponent == 0 ? std::ldexp(mantissa, 1 - bias - mantissaBits)
                       : std::ldexp(mantissa + (1 << mantissaBits), exponent - bias - mantissaBits);
}

/// All numbers of an 8-bit format, and those that are halfway between two of them.
template <class T> void checkEightBits(int mantissaBits, int bias, unsigned largest) {
  for (unsigned bits = 0; bits <= largest; ++bits) {
    INFO("bits " << bits);
    const auto value = static_cast<float>(defined(bits, mantissaBits, bias));
    const T positive{static_cast<std::uint8_t>(bits)}, negative{static_cast<std::uint8_t>(bits | 0x80)};
    CHECK(eightBits(positive) == value);
    CHECK(eightBits(negative) == -value);
    CHECK(std::signbit(eightBits(negative)));
    CHECK(toEightBits<T>(value).bits == bits);
    CHECK(toEightBits<T>(-value).bits == (bits | 0x80));
    if (bits == largest)
      continue;
    const auto middle = static_cast<float>((value + defined(bits + 1, mantissaBits, bias)) / 2);
    CHECK(toEightBits<T>(middle).bits == bits + bits % 2);
    CHECK(toEightBits<T>(std::nextafter(middle, 0.0f)).bits == bits);
    CHECK(toEightBits<T>(-std::nextafter(middle, infinity)).bits == (0x80 | (bits + 1)));
  }
  const auto most = static_cast<float>(defined(largest, mantissaBits, bias));
  for (const float beyond : {std::nextafter(most, infinity), most * 1.5f, 1e30f, infinity}) {
    CHECK(toEightBits<T>(beyond).bits == largest);
    CHECK(toEightBits<T>(-beyond).bits == (0x80 | largest));
  }
  CHECK(toEightBits<T>(std::numeric_limits<float>::denorm_min()).bits == 0);
  CHECK(toEightBits<T>(noNumber).bits == 0x7f);
  CHECK(std::isnan(eightBits(T{0x7f})));
  CHECK(std::isnan(eightBits(T{0xff})));
}

} // namespace

TEST_CASE("half and bfloat16 keep every value that they have") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const Half h{static_cast<std::uint16_t>(bits)};
    const Bfloat16 b{static_cast<std::uint16_t>(bits)};
    if (std::isnan(detail::toFloat(h)))
      CHECK(std::isnan(detail::toFloat(detail::toHalf(detail::toFloat(h)))));
    else if (detail::toHalf(detail::toFloat(h)).bits != bits)
      FAIL("half " << bits);
    if (std::isnan(detail::toFloat(b)))
      CHECK(std::isnan(detail::toFloat(detail::toBfloat16(detail::toFloat(b)))));
    else if (detail::toBfloat16(detail::toFloat(b)).bits != bits)
      FAIL("bfloat16 " << bits);
  }
}

TEST_CASE("numbers of 8 bits are those of their formats, and floats become the nearest of them, ties to even") {
  checkEightBits<Float8E4m3>(3, 7, 0x7e);
  checkEightBits<Float8E5m2>(2, 15, 0x7b);
  CHECK(eightBits(Float8E4m3{0x7e}) == 448);
  CHECK(eightBits(Float8E5m2{0x7b}) == 57344);
  CHECK(eightBits(Float8E5m2{0x7c}) == infinity);
  CHECK(eightBits(Float8E5m2{0xfc}) == -infinity);
  CHECK(std::isnan(eightBits(Float8E5m2{0x7d})));
}

TEST_CASE("floats are rounded to the nearest, ties to even") {
  // Halfway between each two neighbours, and a little on either side.
  for (std::uint16_t bits = 0; bits < 0x7bff; ++bits) {
    const float low = detail::toFloat(Half{bits}), high = detail::toFloat(Half{static_cast<std::uint16_t>(bits + 1)});
    const float middle = (low + high) / 2;
    const std::uint16_t even = bits % 2 == 0 ? bits : static_cast<std::uint16_t>(bits + 1);
    if (detail::toHalf(middle).bits != even || detail::toHalf(std::nextafter(middle, 0.0f)).bits != bits ||
        detail::toHalf(std::nextafter(middle, infinity)).bits != bits + 1)
      FAIL("half " << bits);
  }
  CHECK(detail::toFloat(detail::toHalf(65519.0f)) == 65504.0f);
  CHECK(detail::toFloat(detail::toHalf(65520.0f)) == infinity);
  CHECK(detail::toFloat(detail::toHalf(-1e10f)) == -infinity);
  CHECK(detail::toFloat(detail::toBfloat16(1.00390625f)) == 1.0f);      // 1 + 2^-8, a tie
  CHECK(detail::toFloat(detail::toBfloat16(1.01171875f)) == 1.015625f); // 1 + 3 * 2^-8, a tie
  CHECK(detail::toFloat(detail::toBfloat16(3.4e38f)) == infinity);
}

TEST_CASE("more than two values of half and bfloat16 meet in float") {
  CHECK(half<Sum>({2048, 1, 1}) == 2050);
  CHECK(half<Sum>({60000, 60000, -60000}) == 60000);
  CHECK(bfloat<Sum>({256, 1, 1}) == 258);
  CHECK(bfloat<Prod>({1.0078125f, 1.0078125f, 1.0078125f}) == 1.0234375f);
}

TEST_CASE("numbers of 8 bits meet in float, and are rounded once") {
  CHECK(e4m3<Sum>({16, 1, 1}) == 18);
  CHECK(e5m2<Sum>({8, 1, 1}) == 10);
  CHECK(e4m3<Sum>({448, 448, -448}) == 448);
  CHECK(e4m3<Sum>({448, 1}) == 448);
  CHECK(e4m3<Sum>({-448, -448}) == -448);
  CHECK(e5m2<Sum>({57344, 57344}) == 57344);
  CHECK(e5m2<Sum>({infinity, 1}) == 57344); // the input is the largest number already
  CHECK(e4m3<Prod>({1.125f, 1.125f, 1.125f}) == 1.375f);
  CHECK(e4m3<Min>({noNumber, 2, 1}) == 1);
  CHECK(e5m2<Max>({-1, noNumber, -2}) == -1);
  CHECK(std::isnan(e4m3<Sum>({1, noNumber})));
  CHECK(std::isnan(e5m2<Prod>({noNumber, 1})));
  // Each of the elements of a word for itself, an odd number of them too.
  struct Three {
    Float8E4m3 e[3];
  };
  detail::Accumulator<Float8E4m3, Sum, Three> acc;
  acc.start({{{0x38}, {0x40}, {0x48}}});
  acc.add({{{0x38}, {0x38}, {0x38}}});
  CHECK(eightBits(acc.result().e[0]) == 2);
  CHECK(eightBits(acc.result().e[1]) == 3);
  CHECK(eightBits(acc.result().e[2]) == 5);
}

TEST_CASE("integers wrap around and compare by their sign") {
  CHECK(fused<std::int32_t, Sum>({2147483647, 1}) == -2147483647 - 1);
  CHECK(fused<std::uint32_t, Sum>({0xffffffffu, 2}) == 1);
  CHECK(fused<std::uint8_t, Sum>({200, 100}) == 44);
  CHECK(fused<std::int32_t, Min>({-1, 0}) == -1);
  CHECK(fused<std::uint32_t, Max>({0xffffffffu, 0}) == 0xffffffffu);
  CHECK(fused<std::uint8_t, Max>({200, 100}) == 200);
  CHECK(fused<std::int64_t, Sum>({std::numeric_limits<std::int64_t>::max(), 1}) ==
        std::numeric_limits<std::int64_t>::min());
  CHECK(fused<std::uint64_t, Sum>({~std::uint64_t{0}, 2}) == 1);
  CHECK(fused<std::int8_t, Sum>({127, 1}) == -128);
  CHECK(fused<std::int64_t, Min>({-1, 0}) == -1);
  CHECK(fused<std::uint64_t, Max>({~std::uint64_t{0}, 0}) == ~std::uint64_t{0});
  CHECK(fused<std::int8_t, Max>({-1, -128}) == -1);
  CHECK(fused<std::int32_t, Prod>({65537, 65537}) == 131073);
  CHECK(fused<std::int64_t, Prod>({std::int64_t{1} << 62, 2}) == std::numeric_limits<std::int64_t>::min());
  CHECK(fused<std::uint64_t, Prod>({0x100000001u, 0x100000001u}) == 0x200000001u);
  CHECK(fused<std::uint8_t, Prod>({200, 3}) == 88);
  CHECK(fused<std::int8_t, Prod>({-3, 50}) == 106);
}

TEST_CASE("a sum with a NaN is NaN; of a number and a NaN the least and the greatest are the number") {
  CHECK(std::isnan(fused<float, Sum>({1, noNumber})));
  CHECK(std::isnan(fused<float, Sum>({infinity, -infinity})));
  CHECK(fused<float, Sum>({infinity, 1}) == infinity);
  for (const auto &values : {std::initializer_list<float>{noNumber, 2, 1}, {2, noNumber, 1}, {2, 1, noNumber}}) {
    CHECK(fused<float, Min>(values) == 1);
    CHECK(fused<float, Max>(values) == 2);
    CHECK(std::isnan(fused<float, Prod>(values)));
    CHECK(half<Min>(values) == 1);
    CHECK(bfloat<Max>(values) == 2);
  }
  CHECK(std::isnan(fused<float, Min>({noNumber, noNumber})));
  CHECK(fused<double, Min>({noNumber, 2.0, 1.0}) == 1);
  CHECK(fused<double, Max>({2.0, noNumber}) == 2);
  CHECK(fused<double, Sum>({1.0, 1e-15}) == 1.0 + 1e-15);
  CHECK(fused<double, Prod>({1.0 + 1e-15, 1.0 + 1e-15}) == (1.0 + 1e-15) * (1.0 + 1e-15));
  CHECK(half<Max>({-infinity, 1}) == 1);
  CHECK(half<Min>({-infinity, 1}) == -infinity);
}

namespace {

/// Checks what a packet without a flag carries of elements with these bits, four or more at a time.
template <class T, class Bits> void checkForm(const std::vector<Bits> &all) {
  using Form = detail::PacketForm<Lamport, T>;
  constexpr std::size_t count = sizeof(Lamport::Payload) / sizeof(Bits);
  struct Elements {
    Bits e[count];
  };
  constexpr Bits minusZero = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  for (std::size_t at = 0; at < all.size(); ++at) {
    Elements in;
    for (std::size_t i = 0; i < count; ++i)
      in.e[i] = all[(at + i * 37) % all.size()]; // neighbours change nothing
    const auto sent = Form::sent(detail::bitCast<Lamport::Payload>(in));
    const auto onTheWay = detail::bitCast<Elements>(sent);
    const auto out = detail::bitCast<Elements>(Form::received(sent));
    for (std::size_t i = 0; i < count; ++i) {
      const bool isRight = onTheWay.e[i] != 0 && out.e[i] == (in.e[i] == minusZero ? Bits{0} : in.e[i]);
      if (!isRight) // a CHECK of each would take long
        FAIL("element " << +in.e[i] << " becomes " << +out.e[i]);
    }
  }
  const auto empty = detail::bitCast<Elements>(Form::received({}));
  CHECK(empty.e[count - 1] == minusZero);
}
template <class Bits> std::vector<Bits> allBits() {
  std::vector<Bits> all;
  for (unsigned bits = 0; bits <= std::numeric_limits<Bits>::max(); ++bits)
    all.push_back(static_cast<Bits>(bits));
  return all;
}

} // namespace

TEST_CASE("a packet without a flag changes no bit but that of -0.0, and no element of it is zero") {
  checkForm<Half>(allBits<std::uint16_t>());
  checkForm<Bfloat16>(allBits<std::uint16_t>());
  checkForm<Float8E4m3>(allBits<std::uint8_t>());
  checkForm<Float8E5m2>(allBits<std::uint8_t>());
  // Zeros, the least numbers, infinities, and signalling and quiet numbers that are none, of both signs.
  checkForm<float>(std::vector<std::uint32_t>{0, 0x80000000, 1, 0x80000001, 0x3f800000, 0xbf800000, 0x7f800000,
                                              0xff800000, 0x7f800001, 0xffffffff, 0x7fffffff});
  checkForm<double>(std::vector<std::uint64_t>{0, 1ull << 63, 1, 1ull << 63 | 1, 0x80000000, 0x3ff0000000000000,
                                               0xbff0000000000000, 0x7ff0000000000000, 0xfff0000000000000,
                                               0x8000000080000000, ~0ull, 0x7ff0000000000001});
}

TEST_CASE("functions take a row by reference: a copy would not say which elements are made") {
  CHECK_FALSE(std::is_copy_constructible_v<Part<float>>);
}
