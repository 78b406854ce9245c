#include "numbers.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace fake {
namespace {

// What a type is computed in.
template <class T> struct Computed {
  using Type = T;
};
template <> struct Computed<__half> {
  using Type = float;
};
template <> struct Computed<__nv_bfloat16> {
  using Type = float;
};

template <class T> auto wide(T value) {
  return static_cast<typename Computed<T>::Type>(value);
}
inline float wide(__half value) {
  return __half2float(value);
}
inline float wide(__nv_bfloat16 value) {
  return __bfloat162float(value);
}
template <class T> T narrow(typename Computed<T>::Type value) {
  return static_cast<T>(value);
}
template <> __half narrow<__half>(float value) {
  return __float2half(value);
}
template <> __nv_bfloat16 narrow<__nv_bfloat16>(float value) {
  return __float2bfloat16(value);
}

template <class W> W combine(W a, W b, int op) {
  if (op == ncclProd)
    return static_cast<W>(a * b);
  if (op == ncclMax)
    return std::max(a, b);
  if (op == ncclMin)
    return std::min(a, b);
  return static_cast<W>(a + b);
}

template <class T> void reduceAs(void *into, const char *const *from, int ranks, size_t count, int op) {
  for (size_t i = 0; i < count; ++i) {
    auto all = wide(reinterpret_cast<const T *>(from[0])[i]);
    for (int rank = 1; rank < ranks; ++rank)
      all = combine<decltype(all)>(all, wide(reinterpret_cast<const T *>(from[rank])[i]), op);
    if (op == ncclAvg)
      all = static_cast<decltype(all)>(all / static_cast<decltype(all)>(ranks));
    static_cast<T *>(into)[i] = narrow<T>(all);
  }
}

template <class T> void scaleAs(void *data, size_t count, const void *scalar) {
  for (size_t i = 0; i < count; ++i)
    static_cast<T *>(data)[i] = narrow<T>(static_cast<typename Computed<T>::Type>(
        wide(static_cast<T *>(data)[i]) * wide(*static_cast<const T *>(scalar))));
}

/// Calls `use` with a value of the type.
template <class Use> void withType(ncclDataType_t type, Use use) {
  switch (static_cast<int>(type)) {
  case ncclInt8:
    return use(int8_t{});
  case ncclUint8:
    return use(uint8_t{});
  case ncclInt32:
    return use(int32_t{});
  case ncclUint32:
    return use(uint32_t{});
  case ncclInt64:
    return use(int64_t{});
  case ncclUint64:
    return use(uint64_t{});
  case ncclFloat16:
    return use(__half{});
  case ncclFloat32:
    return use(float{});
  case ncclFloat64:
    return use(double{});
  case ncclBfloat16:
    return use(__nv_bfloat16{});
  }
}

} // namespace

size_t bytesOf(ncclDataType_t type) {
  size_t bytes = type == ncclFloat8e4m3 || type == ncclFloat8e5m2 ? 1 : 0;
  withType(type, [&](auto value) { bytes = sizeof(value); });
  return bytes;
}

bool canReduce(ncclDataType_t type) {
  bool can = false;
  withType(type, [&](auto) { can = true; });
  return can;
}

void reduce(void *into, const char *const *from, int ranks, size_t count, ncclDataType_t type, int op) {
  withType(type, [&](auto value) { reduceAs<decltype(value)>(into, from, ranks, count, op); });
}

void scale(void *data, size_t count, ncclDataType_t type, const void *scalar) {
  withType(type, [&](auto value) { scaleAs<decltype(value)>(data, count, scalar); });
}

} // namespace fake
