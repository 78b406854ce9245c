#include "values.h"

#include "mscclc/runtime.h"

#include <algorithm>
#include <cstring>

namespace mscclc::perf {
namespace {

struct TypeInfo {
  const char *name;
  size_t bytes;
  int64_t exact; ///< whole numbers up to this are exact
  bool isSigned;
};
constexpr TypeInfo types[typeCount] = {{"f32", 4, 1 << 24, true}, {"f16", 2, 1 << 11, true},  {"bf16", 2, 1 << 8, true},
                                       {"i32", 4, 1 << 30, true}, {"u32", 4, 1 << 30, false}, {"u8", 1, 255, false}};

uint32_t scramble(uint32_t x) {
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

int64_t valueAt(uint32_t dtype, uint32_t reduceOp, uint32_t ranks, uint32_t rank, size_t index) {
  const TypeInfo &type = types[dtype];
  const int64_t most = reduceOp == MSCCLC_MIN || reduceOp == MSCCLC_MAX
                           ? type.exact
                           : std::max<int64_t>(type.exact / static_cast<int64_t>(ranks), 1);
  const int64_t drawn = scramble(static_cast<uint32_t>(index * 64 + rank) + rank * 0x9e3779b9u);
  return type.isSigned ? drawn % (2 * most + 1) - most : drawn % (most + 1);
}

/// A whole number within half precision's exact range.
uint16_t halfOf(int64_t value) {
  if (value == 0)
    return 0;
  const auto sign = static_cast<uint16_t>(value < 0 ? 0x8000 : 0);
  auto mantissa = static_cast<uint32_t>(value < 0 ? -value : value);
  uint32_t exponent = 15 + 10;
  for (; mantissa < 1024; mantissa <<= 1)
    --exponent;
  for (; mantissa >= 2048; mantissa >>= 1)
    ++exponent;
  return static_cast<uint16_t>(sign | exponent << 10 | (mantissa & 1023));
}

void store(uint32_t dtype, int64_t value, unsigned char *to) {
  const auto number = static_cast<float>(value);
  uint32_t word = static_cast<uint32_t>(value);
  if (dtype == MSCCLC_F32 || dtype == MSCCLC_BF16)
    std::memcpy(&word, &number, sizeof(word));
  if (dtype == MSCCLC_BF16)
    word >>= 16;
  if (dtype == MSCCLC_F16)
    word = halfOf(value);
  std::memcpy(to, &word, types[dtype].bytes); // little endian, as the devices are
}

} // namespace

const char *typeName(uint32_t dtype) {
  return dtype < typeCount ? types[dtype].name : "?";
}
size_t typeBytes(uint32_t dtype) {
  return types[dtype].bytes;
}
const char *reduceName(uint32_t reduceOp) {
  return reduceOp == MSCCLC_SUM ? "sum" : reduceOp == MSCCLC_MIN ? "min" : reduceOp == MSCCLC_MAX ? "max" : "none";
}

Table inputTable(uint32_t dtype, uint32_t reduceOp, uint32_t ranks, uint32_t rank) {
  Table table(period * typeBytes(dtype));
  for (size_t i = 0; i < period; ++i)
    store(dtype, valueAt(dtype, reduceOp, ranks, rank, i), &table[i * typeBytes(dtype)]);
  return table;
}

Table reducedTable(uint32_t dtype, uint32_t reduceOp, uint32_t ranks) {
  Table table(period * typeBytes(dtype));
  for (size_t i = 0; i < period; ++i) {
    int64_t value = valueAt(dtype, reduceOp, ranks, 0, i);
    for (uint32_t rank = 1; rank < ranks; ++rank) {
      const int64_t next = valueAt(dtype, reduceOp, ranks, rank, i);
      value = reduceOp == MSCCLC_MIN   ? std::min(value, next)
              : reduceOp == MSCCLC_MAX ? std::max(value, next)
                                       : value + next;
    }
    store(dtype, value, &table[i * typeBytes(dtype)]);
  }
  return table;
}

void fill(unsigned char *to, const Table &table, size_t elementBytes, uint64_t first, uint64_t count) {
  uint64_t at = first % period;
  while (count != 0) {
    const uint64_t part = std::min<uint64_t>(count, period - at);
    std::memcpy(to, &table[at * elementBytes], part * elementBytes);
    to += part * elementBytes;
    count -= part;
    at = 0;
  }
}

uint64_t countWrong(const unsigned char *data, const Table &table, size_t elementBytes, uint64_t first,
                    uint64_t count) {
  uint64_t wrong = 0, at = first % period;
  while (count != 0) {
    const uint64_t part = std::min<uint64_t>(count, period - at);
    if (std::memcmp(data, &table[at * elementBytes], part * elementBytes) != 0)
      for (uint64_t i = 0; i < part; ++i)
        wrong += std::memcmp(data + i * elementBytes, &table[(at + i) * elementBytes], elementBytes) != 0;
    data += part * elementBytes;
    count -= part;
    at = 0;
  }
  return wrong;
}

} // namespace mscclc::perf
