// Inputs whose sum depends on the order in which it is taken, and the bits of the sum in a given order.
#pragma once

#include "mscclc/narrow_floats.h"
#include "mscclc/runtime.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace mscclc::test {

inline bool isFloat(std::uint32_t dtype) {
  return dtype == MSCCLC_F32 || dtype == MSCCLC_F16 || dtype == MSCCLC_BF16 || dtype == MSCCLC_F64 ||
         dtype == MSCCLC_F8E4M3 || dtype == MSCCLC_F8E5M2;
}

/// Returns the bits of `value`, rounded to a type of floats.
inline std::uint64_t bitsOf(std::uint32_t dtype, double value) {
  const auto single = static_cast<float>(value);
  std::uint64_t bits = 0;
  switch (dtype) {
  case MSCCLC_F64:
    std::memcpy(&bits, &value, sizeof value);
    return bits;
  case MSCCLC_F16:
    return narrow::encode<narrow::Binary16>(single);
  case MSCCLC_BF16:
    return narrow::encodeBfloat16(single);
  case MSCCLC_F8E4M3:
    return narrow::encode<narrow::E4m3>(single);
  case MSCCLC_F8E5M2:
    return narrow::encode<narrow::E5m2>(single);
  default:
    std::memcpy(&bits, &single, sizeof single);
    return bits;
  }
}

/// Returns the number that has these bits.
inline double numberOf(std::uint32_t dtype, std::uint64_t bits) {
  double wide = 0;
  float single = 0;
  switch (dtype) {
  case MSCCLC_F64:
    std::memcpy(&wide, &bits, sizeof wide);
    return wide;
  case MSCCLC_F16:
    return narrow::decode<narrow::Binary16>(static_cast<std::uint16_t>(bits));
  case MSCCLC_BF16:
    return narrow::decodeBfloat16(static_cast<std::uint16_t>(bits));
  case MSCCLC_F8E4M3:
    return narrow::decode<narrow::E4m3>(static_cast<std::uint8_t>(bits));
  case MSCCLC_F8E5M2:
    return narrow::decode<narrow::E5m2>(static_cast<std::uint8_t>(bits));
  default:
    std::memcpy(&single, &bits, sizeof single);
    return single;
  }
}

/// What `mscclc` writes behind the tree of sums that are never -0.0.
inline constexpr char zeroed[] = " with -0.0 as +0.0";

/// Adds one number of each rank in the order of a tree, as `mscclc` writes it: "[0+1]+2". Each step rounds to f32, or
/// stays f64. Brackets narrow to the type, and so does the end.
class SumInOrder {
public:
  SumInOrder(std::uint32_t dtype, const std::vector<std::uint64_t> &ofRanks) : dtype_(dtype), ofRanks_(ofRanks) {}
  /// Returns the bits. Ends the program if `tree` is none.
  std::uint64_t operator()(const std::string &tree) {
    at_ = tree.c_str();
    const double sum = chain();
    const bool isZeroed = std::strcmp(at_, zeroed) == 0;
    if (*at_ != '\0' && !isZeroed)
      std::abort();
    return bitsOf(dtype_, isZeroed && sum == 0 ? 0.0 : sum);
  }

private:
  double chain() {
    double sum = operand();
    while (*at_ == '+') {
      ++at_;
      sum += operand();
      sum = dtype_ == MSCCLC_F64 ? sum : static_cast<float>(sum);
    }
    return sum;
  }
  double operand() {
    if (*at_ != '(' && *at_ != '[') {
      char *end = nullptr;
      const std::size_t rank = std::strtoull(at_, &end, 10);
      if (end == at_ || rank >= ofRanks_.size())
        std::abort();
      at_ = end;
      return numberOf(dtype_, ofRanks_[rank]);
    }
    const char close = *at_++ == '[' ? ']' : ')';
    const double sum = chain();
    if (*at_++ != close)
      std::abort();
    return close == ']' ? numberOf(dtype_, bitsOf(dtype_, sum)) : sum;
  }

  const std::uint32_t dtype_;
  const std::vector<std::uint64_t> &ofRanks_;
  const char *at_ = nullptr;
};

/// A tensor of each rank, and the bits of their sum.
struct Tensor {
  std::vector<std::vector<std::uint64_t>> parts; ///< [rank][element]
  std::vector<std::uint64_t> sum;
};

/// Makes tensors of whole mantissas and both signs, and their sum in the order of `tree`. Of each element one rank has
/// a large number and another one its opposite, so the sum shows which small ones were added while it was large. Of
/// some elements all ranks have -0.0, or all but one; and of some one has infinity, in types that have it.
inline Tensor makeTensor(const std::string &tree, std::uint32_t dtype, std::uint32_t ranks, std::size_t count) {
  // What f32 drops of a small number beside a large one shows in the type, but for f8e4m3.
  const int large = dtype == MSCCLC_F64 ? 30 : dtype == MSCCLC_F8E4M3 ? 7 : 14;
  const int small = dtype == MSCCLC_F64 ? -16 : dtype == MSCCLC_F8E4M3 ? -5 : dtype == MSCCLC_F8E5M2 ? -12 : -6;
  std::mt19937 random(4321);
  const auto draw = [&](int exponent) {
    const double mantissa = 1 + (random() & 0xffffff) * 0x1p-24;
    return std::ldexp(random() % 2 == 0 ? mantissa : -mantissa, exponent + static_cast<int>(random() % 3) - 2);
  };
  Tensor made;
  made.parts.resize(ranks);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t first = random() % ranks, second = (first + 1 + random() % (ranks - 1)) % ranks;
    const double opposite = draw(large);
    std::vector<std::uint64_t> ofRanks;
    const bool hasInfinity = dtype != MSCCLC_F8E4M3 && dtype != MSCCLC_F8E5M2;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      double value = rank == first ? opposite : rank == second ? -opposite : draw(small);
      if (i % 16 == 5 || (i % 16 == 9 && rank != first))
        value = -0.0;
      else if (i % 16 == 13 && hasInfinity && rank == first)
        value = INFINITY;
      ofRanks.push_back(bitsOf(dtype, value));
      made.parts[rank].push_back(ofRanks.back());
    }
    made.sum.push_back(SumInOrder(dtype, ofRanks)(tree));
  }
  return made;
}

} // namespace mscclc::test
