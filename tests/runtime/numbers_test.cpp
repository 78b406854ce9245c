// The arithmetic of kernels, as the device headers do it on plain C++.
#include "catch.h"
#include "mscclc/device.cuh"

#include <cmath>
#include <limits>

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

template <class Op> float half(std::initializer_list<float> values) {
  std::vector<Half> all;
  detail::Accumulator<Half, Op, Half> acc;
  for (const float v : values)
    all.push_back(detail::toHalf(v));
  acc.start(all[0]);
  for (std::size_t i = 1; i < all.size(); ++i)
    acc.add(all[i]);
  return detail::toFloat(acc.result());
}
template <class Op> float bfloat(std::initializer_list<float> values) {
  detail::Accumulator<Bfloat16, Op, Bfloat16> acc;
  bool fresh = true;
  for (const float v : values) {
    fresh ? acc.start(detail::toBfloat16(v)) : acc.add(detail::toBfloat16(v));
    fresh = false;
  }
  return detail::toFloat(acc.result());
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
}

TEST_CASE("integers wrap around and compare by their sign") {
  CHECK(fused<std::int32_t, Sum>({2147483647, 1}) == -2147483647 - 1);
  CHECK(fused<std::uint32_t, Sum>({0xffffffffu, 2}) == 1);
  CHECK(fused<std::uint8_t, Sum>({200, 100}) == 44);
  CHECK(fused<std::int32_t, Min>({-1, 0}) == -1);
  CHECK(fused<std::uint32_t, Max>({0xffffffffu, 0}) == 0xffffffffu);
  CHECK(fused<std::uint8_t, Max>({200, 100}) == 200);
}

TEST_CASE("a sum with a NaN is NaN; of a number and a NaN the least and the greatest are the number") {
  CHECK(std::isnan(fused<float, Sum>({1, noNumber})));
  CHECK(std::isnan(fused<float, Sum>({infinity, -infinity})));
  CHECK(fused<float, Sum>({infinity, 1}) == infinity);
  for (const auto &values : {std::initializer_list<float>{noNumber, 2, 1}, {2, noNumber, 1}, {2, 1, noNumber}}) {
    CHECK(fused<float, Min>(values) == 1);
    CHECK(fused<float, Max>(values) == 2);
    CHECK(half<Min>(values) == 1);
    CHECK(bfloat<Max>(values) == 2);
  }
  CHECK(std::isnan(fused<float, Min>({noNumber, noNumber})));
  CHECK(half<Max>({-infinity, 1}) == 1);
  CHECK(half<Min>({-infinity, 1}) == -infinity);
}
