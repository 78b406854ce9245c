// The data of nccl-tests, and the check of results, on the CPU: in place of its kernels. Values are small whole
// numbers, so that each result is exact in each type and in each order; the check therefore compares bytes.
#include "nccl.h"

#include "fake/numbers.h"

#include <cstdint>
#include <cstring>
#include <vector>

namespace {

int sum(int op) {
  return op == ncclNumOps ? static_cast<int>(ncclSum) : op;
}

uint64_t mixed(uint64_t seed, uint64_t index, uint64_t rank) {
  uint64_t x = seed * 0x9e3779b97f4a7c15u + index * 0xbf58476d1ce4e5b9u + rank * 0x94d049bb133111ebu + 1;
  x ^= x >> 31;
  x *= 0xbf58476d1ce4e5b9u;
  return x ^ x >> 29;
}

/// 0 to 7; of a product 1, and 2 for the first ranks at most.
int valueAt(int op, int rank, uint64_t seed, uint64_t index) {
  const uint64_t x = mixed(seed, index, static_cast<uint64_t>(rank));
  return op == ncclProd ? (rank < 4 ? 1 + static_cast<int>(x % 2) : 1) : static_cast<int>(x % 8);
}

void store(void *elements, intptr_t at, int type, int value) {
  switch (type) {
  case ncclInt8:
  case ncclUint8:
    static_cast<uint8_t *>(elements)[at] = static_cast<uint8_t>(value);
    break;
  case ncclInt32:
  case ncclUint32:
    static_cast<uint32_t *>(elements)[at] = static_cast<uint32_t>(value);
    break;
  case ncclInt64:
  case ncclUint64:
    static_cast<uint64_t *>(elements)[at] = static_cast<uint64_t>(value);
    break;
  case ncclFloat16:
    static_cast<__half *>(elements)[at] = __float2half(static_cast<float>(value));
    break;
  case ncclFloat32:
    static_cast<float *>(elements)[at] = static_cast<float>(value);
    break;
  case ncclFloat64:
    static_cast<double *>(elements)[at] = value;
    break;
  case ncclBfloat16:
    static_cast<__nv_bfloat16 *>(elements)[at] = __float2bfloat16(static_cast<float>(value));
    break;
  }
}

} // namespace

cudaError_t ncclVerifiablePrepareInput(void *elements, intptr_t count, int type, int op, int, int rank, uint64_t seed,
                                       intptr_t first, cudaStream_t) {
  for (intptr_t i = 0; i < count; ++i)
    store(elements, i, type, valueAt(op, rank, seed, static_cast<uint64_t>(first + i)));
  return cudaSuccess;
}

cudaError_t ncclVerifiablePrepareExpected(void *elements, intptr_t count, int type, int op, int ranks, uint64_t seed,
                                          intptr_t first, cudaStream_t stream) {
  const size_t bytes = fake::bytesOf(static_cast<ncclDataType_t>(type));
  std::vector<std::vector<char>> inputs(static_cast<size_t>(ranks),
                                        std::vector<char>(static_cast<size_t>(count) * bytes));
  std::vector<const char *> from;
  for (int rank = 0; rank < ranks; ++rank) {
    std::vector<char> &input = inputs[static_cast<size_t>(rank)];
    ncclVerifiablePrepareInput(input.data(), count, type, op, ranks, rank, seed, first, stream);
    alignas(8) char scalar[8];
    store(scalar, 0, type, rank % 2 == 0 ? 1 : 2);
    if (op == ncclNumOps)
      fake::scale(input.data(), static_cast<size_t>(count), static_cast<ncclDataType_t>(type), scalar);
    from.push_back(input.data());
  }
  fake::reduce(elements, from.data(), ranks, static_cast<size_t>(count), static_cast<ncclDataType_t>(type), sum(op));
  return cudaSuccess;
}

cudaError_t ncclVerifiableVerify(void const *results, void const *expected, intptr_t count, int type, int op, int ranks,
                                 uint64_t seed, intptr_t first, int64_t *wrong, cudaStream_t stream) {
  const size_t bytes = fake::bytesOf(static_cast<ncclDataType_t>(type));
  std::vector<char> made;
  if (expected == nullptr) {
    made.resize(static_cast<size_t>(count) * bytes);
    ncclVerifiablePrepareExpected(made.data(), count, type, op, ranks, seed, first, stream);
    expected = made.data();
  }
  *wrong = 0;
  for (size_t i = 0; i < static_cast<size_t>(count); ++i)
    *wrong += std::memcmp(static_cast<const char *>(results) + i * bytes,
                          static_cast<const char *>(expected) + i * bytes, bytes) != 0
                  ? 1
                  : 0;
  return cudaSuccess;
}
