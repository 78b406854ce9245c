#include "values.h"

#include "mscclc/narrow_floats.h"
#include "mscclc/runtime.h"

#include <algorithm>
#include <cstring>

namespace mscclc::perf {
namespace {

struct TypeInfo {
  const char *name;
  size_t bytes;
};
constexpr TypeInfo types[typeCount] = {
#define MSCCLC_DTYPE(id, number, bytes, name, type) {name, bytes},
#include "mscclc/dtypes.def"
};
constexpr const char *operations[operationCount] = {
#define MSCCLC_REDUCE_OP(id, number, name, type) name,
#include "mscclc/reduce_ops.def"
};

uint32_t scramble(uint32_t x) {
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}
uint32_t drawn(uint32_t rank, size_t index) {
  return scramble(static_cast<uint32_t>(index * 64 + rank) + rank * 0x9e3779b9u);
}

/// The elements of a floating-point type, which are computed in double. Whole numbers up to 2^Digits are exact.
template <unsigned Digits, class StoredT, StoredT (*Encode)(double)> struct Real {
  using Stored = StoredT;
  using Number = double;
  /// Factors of products are powers of two. Over all ranks, at most `factors` of them are not 1 or -1, so that every
  /// product is in the range of every type.
  static double valueAt(uint32_t reduceOp, uint32_t ranks, uint32_t rank, size_t index) {
    const uint32_t x = drawn(rank, index);
    if (reduceOp == MSCCLC_PROD) {
      constexpr uint32_t factors = 8;
      constexpr double powers[] = {1, 2, 0.5, 2};
      const double power = (rank + index) % ((ranks + factors - 1) / factors) == 0 ? powers[x >> 1 & 3] : 1;
      return x % 2 == 0 ? power : -power;
    }
    constexpr uint32_t exact = 1u << Digits;
    if (reduceOp == MSCCLC_SUM && (rank + index) % ((ranks + exact - 1) / exact) != 0)
      return 0;
    const uint32_t most = reduceOp == MSCCLC_SUM ? std::max(exact / ranks, 1u) : exact;
    return static_cast<double>(x % (2 * most + 1)) - most;
  }
  static double combined(uint32_t reduceOp, double a, double b) {
    return reduceOp == MSCCLC_MIN    ? std::min(a, b)
           : reduceOp == MSCCLC_MAX  ? std::max(a, b)
           : reduceOp == MSCCLC_PROD ? a * b
                                     : a + b;
  }
  static Stored stored(double value) { return Encode(value); }
};

/// The elements of an integer type, which wrap around. Factors of products are odd, because an even factor would shift
/// digits out.
template <class T> struct Integer {
  using Stored = T;
  using Number = T;
  static T valueAt(uint32_t reduceOp, uint32_t, uint32_t rank, size_t index) {
    const uint64_t x = drawn(rank, index);
    return static_cast<T>((x << 32 | x) | (reduceOp == MSCCLC_PROD ? 1u : 0u));
  }
  static T combined(uint32_t reduceOp, T a, T b) {
    const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
    return reduceOp == MSCCLC_MIN   ? std::min(a, b)
           : reduceOp == MSCCLC_MAX ? std::max(a, b)
                                    : static_cast<T>(reduceOp == MSCCLC_PROD ? x * y : x + y);
  }
  static T stored(T value) { return value; }
};

float single(double value) {
  return static_cast<float>(value);
}
double same(double value) {
  return value;
}
uint16_t bfloat16(double value) {
  return narrow::encodeBfloat16(single(value));
}
template <class Format> typename Format::Bits encoded(double value) {
  return narrow::encode<Format>(single(value));
}

/// Calls `call` with the Real or Integer that describes a type, and returns the result.
template <class Call> Table ofType(uint32_t dtype, Call call) {
  switch (static_cast<MscclcDtype>(dtype)) {
  case MSCCLC_F32:
    return call(Real<24, float, single>{});
  case MSCCLC_F16:
    return call(Real<11, uint16_t, encoded<narrow::Binary16>>{});
  case MSCCLC_BF16:
    return call(Real<8, uint16_t, bfloat16>{});
  case MSCCLC_I32:
    return call(Integer<int32_t>{});
  case MSCCLC_U32:
    return call(Integer<uint32_t>{});
  case MSCCLC_U8:
    return call(Integer<uint8_t>{});
  case MSCCLC_F64:
    return call(Real<30, double, same>{});
  case MSCCLC_I64:
    return call(Integer<int64_t>{});
  case MSCCLC_U64:
    return call(Integer<uint64_t>{});
  case MSCCLC_I8:
    return call(Integer<int8_t>{});
  case MSCCLC_F8E4M3:
    return call(Real<4, uint8_t, encoded<narrow::E4m3>>{});
  case MSCCLC_F8E5M2:
    return call(Real<3, uint8_t, encoded<narrow::E5m2>>{});
  case MSCCLC_ANY_DTYPE:
    break;
  }
  return {};
}

/// Returns one period of elements in the format of the devices' memory. value(i) returns element i.
template <class Type, class Value> Table tableOf(Value value) {
  Table table(period * sizeof(typename Type::Stored));
  for (size_t i = 0; i < period; ++i) {
    const auto element = Type::stored(value(i));
    std::memcpy(&table[i * sizeof element], &element, sizeof element);
  }
  return table;
}

} // namespace

const char *typeName(uint32_t dtype) {
  return dtype < typeCount ? types[dtype].name : "?";
}
size_t typeBytes(uint32_t dtype) {
  return types[dtype].bytes;
}
const char *reduceName(uint32_t reduceOp) {
  return reduceOp < operationCount ? operations[reduceOp] : "none";
}

Table inputTable(uint32_t dtype, uint32_t reduceOp, uint32_t ranks, uint32_t rank) {
  return ofType(dtype, [&](auto type) {
    using Type = decltype(type);
    return tableOf<Type>([&](size_t i) { return Type::valueAt(reduceOp, ranks, rank, i); });
  });
}

Table reducedTable(uint32_t dtype, uint32_t reduceOp, uint32_t ranks) {
  return ofType(dtype, [&](auto type) {
    using Type = decltype(type);
    return tableOf<Type>([&](size_t i) {
      typename Type::Number value = Type::valueAt(reduceOp, ranks, 0, i);
      for (uint32_t rank = 1; rank < ranks; ++rank)
        value = Type::combined(reduceOp, value, Type::valueAt(reduceOp, ranks, rank, i));
      return value;
    });
  });
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
