// The functions of mscclc/hooks by their definitions, in plain C++, element after element.
#pragma once

#include "mscclc/narrow_floats.h"
#include "mscclc/runtime_abi.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace mscclc::test {

using Bytes = std::vector<unsigned char>;
using Arrays = std::map<std::string, Bytes>;

inline std::string nameOf(uint32_t dtype) {
  return dtype == MSCCLC_F32 ? "f32" : dtype == MSCCLC_F16 ? "f16" : dtype == MSCCLC_BF16 ? "bf16" : "?";
}
inline uint64_t bytesOf(uint32_t dtype) {
  return dtype == MSCCLC_F32 ? 4 : 2;
}

/// Returns `value` as an element, in its lowest bits.
inline uint32_t bitsOf(float value, uint32_t dtype) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, 4);
  return dtype == MSCCLC_F32   ? bits
         : dtype == MSCCLC_F16 ? narrow::encode<narrow::Binary16>(value)
                               : narrow::encodeBfloat16(value);
}
inline float rounded(float value, uint32_t dtype) {
  const uint32_t bits = bitsOf(value, dtype);
  if (dtype == MSCCLC_F32)
    return value;
  const auto half = static_cast<uint16_t>(bits);
  return dtype == MSCCLC_F16 ? narrow::decode<narrow::Binary16>(half) : narrow::decodeBfloat16(half);
}
inline Bytes narrow(const std::vector<float> &values, uint32_t dtype) {
  Bytes bytes(values.size() * bytesOf(dtype));
  for (size_t i = 0; i < values.size(); ++i) {
    const uint32_t bits = bitsOf(values[i], dtype);
    std::memcpy(&bytes[i * bytesOf(dtype)], &bits, bytesOf(dtype)); // little endian
  }
  return bytes;
}
inline std::vector<float> widen(const Bytes &bytes, uint32_t dtype) {
  std::vector<float> values(bytes.size() / bytesOf(dtype));
  for (size_t i = 0; i < values.size(); ++i) {
    uint32_t bits = 0;
    std::memcpy(&bits, &bytes[i * bytesOf(dtype)], bytesOf(dtype));
    if (dtype == MSCCLC_F32)
      std::memcpy(&values[i], &bits, 4);
    else
      values[i] = dtype == MSCCLC_F16 ? narrow::decode<narrow::Binary16>(static_cast<uint16_t>(bits))
                                      : narrow::decodeBfloat16(static_cast<uint16_t>(bits));
  }
  return values;
}
inline float firstOf(const Bytes &array) {
  float value = 0;
  std::memcpy(&value, array.data(), 4);
  return value;
}

/// A function, with arrays for it; or a wire format.
struct Definition {
  bool equalArrays = false; ///< they must be the same on all ranks
  std::function<Arrays(std::mt19937 &, uint32_t dtype, uint64_t rows, uint64_t elements)> makeArrays;
  /// Replaces the values of the output, and the arrays that the function writes.
  std::function<void(std::vector<float> &, Arrays &, uint32_t dtype, uint64_t rows, uint64_t elements)> apply;
  /// Returns the sum of the ranks' values in the order of ranks, of a kernel with a wire format of blocks of so many
  /// elements, and before it is rounded to the type of elements. Adds the block's error that is allowed to `allowed`.
  std::function<std::vector<float>(const std::vector<std::vector<float>> &, uint64_t block,
                                   std::vector<double> &allowed)>
      sum = {};
};

/// Returns `values` as the wire format f8e4m3 keeps them. Adds to `allowed` what it may change them by: the largest of
/// a block / 28 (samples/auto/allreduce_quantized.cpp).
inline std::vector<float> keptAsF8E4m3(std::vector<float> values, uint64_t block, std::vector<double> &allowed) {
  for (uint64_t first = 0; first < values.size(); first += block) {
    float largest = 0;
    bool isNaN = false;
    for (uint64_t i = first; i < first + block; ++i) {
      isNaN |= std::isnan(values[i]);
      largest = std::max(largest, std::fabs(values[i]));
    }
    const float scale = isNaN ? std::nanf("") : largest / 448 == 0 ? 1 : largest / 448;
    for (uint64_t i = first; i < first + block; ++i) {
      allowed[i] += double{largest} / 28;
      values[i] = narrow::decode<narrow::E4m3>(narrow::encode<narrow::E4m3>(values[i] / scale)) * scale;
    }
  }
  return values;
}
/// The same of the wire format bf16, which changes a value by a 256th of it at most.
inline std::vector<float> keptAsBf16(std::vector<float> values, uint64_t, std::vector<double> &allowed) {
  for (size_t i = 0; i < values.size(); ++i) {
    allowed[i] += std::fabs(values[i]) / 256;
    values[i] = narrow::decodeBfloat16(narrow::encodeBfloat16(values[i]));
  }
  return values;
}
/// Definition::sum of the wire format in which `kept` keeps values.
template <auto kept>
std::vector<float> sumAs(const std::vector<std::vector<float>> &parts, uint64_t block, std::vector<double> &allowed) {
  std::vector<float> sum = kept(parts[0], block, allowed);
  for (size_t rank = 1; rank < parts.size(); ++rank) {
    const std::vector<float> part = kept(parts[rank], block, allowed);
    for (size_t i = 0; i < sum.size(); ++i)
      sum[i] += part[i];
  }
  return kept(sum, block, allowed);
}

/// The sum of squares of a row, in the order that hooks.cuh defines: element i belongs to partial sum i / 8 % 256.
inline float sumOfSquares(const float *row, uint64_t elements) {
  std::vector<float> partial(256, 0), joined(16, 0);
  for (uint64_t i = 0; i < elements; ++i)
    partial[i / 8 % 256] = std::fma(row[i], row[i], partial[i / 8 % 256]);
  for (size_t i = 0; i < partial.size(); ++i)
    joined[i / 16] += partial[i];
  float all = 0;
  for (const float one : joined)
    all += one;
  return all;
}

inline void addRmsNorm(std::vector<float> &values, Arrays &arrays, uint32_t dtype, uint64_t rows, uint64_t elements) {
  std::vector<float> kept = widen(arrays.at("residual"), dtype);
  const std::vector<float> gamma = widen(arrays.at("gamma"), dtype);
  for (uint64_t r = 0; r < rows; ++r) {
    float *const row = &kept[r * elements];
    for (uint64_t i = 0; i < elements; ++i)
      row[i] = rounded(values[r * elements + i] + row[i], dtype);
    const float mean = sumOfSquares(row, elements) / static_cast<float>(elements);
    const float inverse = 1 / std::sqrt(mean + firstOf(arrays.at("epsilon")));
    for (uint64_t i = 0; i < elements; ++i)
      values[r * elements + i] = rounded(row[i] * inverse * gamma[i], dtype);
  }
  arrays["residual"] = narrow(kept, dtype);
}

/// Returns the largest error that `normalised` has, as a part of the one that samples/auto/allreduce_norm.cpp allows.
/// `sums`: the exact sums; `allowed`: what the sums may be off by before they are rounded to the type of elements. The
/// arrays are those before and after the hook.
inline double errorOfNorm(const std::vector<double> &sums, std::vector<double> allowed, const Arrays &before,
                          const Arrays &after, const std::vector<float> &normalised, uint32_t dtype,
                          uint64_t elements) {
  const double toType = dtype == MSCCLC_F32 ? 0x1p-24 : dtype == MSCCLC_F16 ? 0x1p-11 : 0x1p-8;
  const std::vector<float> residual = widen(before.at("residual"), dtype), kept = widen(after.at("residual"), dtype),
                           gamma = widen(before.at("gamma"), dtype);
  double most = 0;
  for (uint64_t first = 0; first < sums.size(); first += elements) {
    double squares = 0, keptSquares = 0, errors = 0;
    for (uint64_t i = first; i < first + elements; ++i) {
      const double row = sums[i] + residual[i];
      allowed[i] += (std::fabs(double{kept[i]}) + std::fabs(double{kept[i]} - residual[i])) * 2 * toType;
      squares += row * row, keptSquares += double{kept[i]} * kept[i], errors += allowed[i] * allowed[i];
    }
    const auto rootOf = [&](double sum, double epsilon) {
      return std::sqrt(sum / static_cast<double>(elements) + epsilon);
    };
    const double epsilon = firstOf(before.at("epsilon")), root = rootOf(squares, epsilon);
    const double ofErrors = rootOf(errors, 0), keptRoot = rootOf(keptSquares, epsilon);
    for (uint64_t i = first; i < first + elements; ++i) {
      const double row = sums[i] + residual[i], weight = gamma[i - first];
      const double bound =
          std::fabs(weight) / keptRoot * (allowed[i] + std::fabs(row) / root * ofErrors) * (1 + 0x1p-10) +
          std::fabs(double{normalised[i]}) * (toType + 0x1p-16);
      if (!std::isnan(normalised[i]) && bound != 0)
        most = std::max(most, std::fabs(normalised[i] - row / root * weight) / bound);
    }
  }
  return most;
}

/// Quantises parts of `elements` elements. Without scales in the arrays, "scale" is the only one.
inline void quantize(const std::vector<float> &values, Arrays &arrays, uint64_t elements) {
  for (uint64_t p = 0; p * elements < values.size(); ++p) {
    float scale = 0;
    if (arrays.count("scales") != 0) {
      for (uint64_t i = p * elements; i < (p + 1) * elements; ++i)
        scale = std::max(scale, std::fabs(values[i]));
      scale = scale / 448 == 0 ? 1 : scale / 448;
      std::memcpy(&arrays["scales"][p * 4], &scale, 4);
    } else {
      scale = firstOf(arrays.at("scale"));
    }
    for (uint64_t i = p * elements; i < (p + 1) * elements; ++i)
      arrays["quantized"][i] = narrow::encode<narrow::E4m3>(values[i] / scale);
  }
}

inline std::vector<float> randomFloats(std::mt19937 &random, uint64_t count) {
  std::vector<float> values(count);
  for (float &value : values)
    value = static_cast<float>(static_cast<int>(random() % 20001) - 10000) / 3000;
  return values;
}
inline Bytes oneFloat(float value) {
  return narrow({value}, MSCCLC_F32);
}

/// Returns the definition of a kernel's hook, which the name of its collective and its arrays say.
inline const Definition &definitionOf(const MscclcKernel &kernel) {
  const auto normArrays = [](std::mt19937 &random, uint32_t dtype, uint64_t rows, uint64_t elements) {
    Arrays arrays{{"residual", narrow(randomFloats(random, rows * elements), dtype)},
                  {"gamma", narrow(randomFloats(random, elements), dtype)},
                  {"epsilon", oneFloat(1e-5f)},
                  {"quantized", Bytes(rows * elements)},
                  {"scales", Bytes(rows * 4)}};
    return arrays;
  };
  const auto quantizeArrays = [](std::mt19937 &, uint32_t, uint64_t rows, uint64_t elements) {
    return Arrays{{"quantized", Bytes(rows * elements)}, {"scales", Bytes(rows * elements * 4)}};
  };
  const auto noArrays = [](std::mt19937 &, uint32_t, uint64_t, uint64_t) { return Arrays{}; };
  const auto noFunction = [](std::vector<float> &, Arrays &, uint32_t, uint64_t, uint64_t) {};
  static const std::map<std::string, Definition> all{
      {"f8e4m3", {false, noArrays, noFunction, sumAs<keptAsF8E4m3>}},
      {"bf16", {false, noArrays, noFunction, sumAs<keptAsBf16>}},
      {"add_rms_norm",
       {false, normArrays,
        [](std::vector<float> &values, Arrays &arrays, uint32_t dtype, uint64_t rows, uint64_t elements) {
          addRmsNorm(values, arrays, dtype, rows, elements);
        }}},
      {"add_rms_norm_quantize",
       {false, normArrays,
        [](std::vector<float> &values, Arrays &arrays, uint32_t dtype, uint64_t rows, uint64_t elements) {
          addRmsNorm(values, arrays, dtype, rows, elements);
          quantize(values, arrays, elements);
        }}},
      {"quantize_rows",
       {false, quantizeArrays,
        [](std::vector<float> &values, Arrays &arrays, uint32_t, uint64_t, uint64_t elements) {
          quantize(values, arrays, elements);
        }}},
      {"quantize_blocks",
       {false, quantizeArrays,
        [](std::vector<float> &values, Arrays &arrays, uint32_t, uint64_t, uint64_t) {
          quantize(values, arrays, 128);
        }}},
      {"quantize_by_scale",
       {false,
        [](std::mt19937 &, uint32_t, uint64_t rows, uint64_t elements) {
          return Arrays{{"quantized", Bytes(rows * elements)}, {"scale", oneFloat(0.03f)}};
        },
        [](std::vector<float> &values, Arrays &arrays, uint32_t, uint64_t, uint64_t elements) {
          quantize(values, arrays, elements);
        }}},
      {"scale",
       {true, [](std::mt19937 &, uint32_t, uint64_t, uint64_t) { return Arrays{{"factor", oneFloat(0.7f)}}; },
        [](std::vector<float> &values, Arrays &arrays, uint32_t dtype, uint64_t, uint64_t) {
          for (float &value : values)
            value = rounded(value * firstOf(arrays.at("factor")), dtype);
        }}},
      {"cast",
       {false,
        [](std::mt19937 &, uint32_t, uint64_t rows, uint64_t elements) {
          return Arrays{{"cast", Bytes(rows * elements * 2)}};
        },
        [](std::vector<float> &values, Arrays &arrays, uint32_t, uint64_t, uint64_t) {
          arrays["cast"] = narrow(values, MSCCLC_BF16);
        }}},
  };
  const std::string name = kernel.collective;
  const std::string hook = name.substr(name.find('+') + 1), first = hook.substr(0, hook.find('+'));
  const auto found = all.find(first), wire = all.find(hook.substr(hook.rfind('+') + 1));
  if (found == all.end() || wire == all.end())
    throw std::runtime_error("no definition of the hook of " + name);
  if (found == wire)
    return found->second;
  static Definition both; // a hook after a sum in a wire format
  both = found->second;
  both.sum = wire->second.sum;
  return both;
}

} // namespace mscclc::test
