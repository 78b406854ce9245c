// The data of nccl-tests and the check of results, on the CPU instead of its kernels. Values are small whole numbers,
// so each result is exact in each type and in each order of reduction. Therefore the check compares bytes.
#include "nccl.h"

#include "fake/numbers.h"

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>
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

/// Elements `first` to `first` + `count` of a rank, or of a result.
struct Part {
  intptr_t count;
  int type, op, ranks;
  uint64_t seed;
  intptr_t first;

  size_t bytes() const { return fake::bytesOf(static_cast<ncclDataType_t>(type)); }
};

void makeInput(void *elements, const Part &part, int rank) {
  for (intptr_t i = 0; i < part.count; ++i)
    store(elements, i, part.type, valueAt(part.op, rank, part.seed, static_cast<uint64_t>(part.first + i)));
}

void makeExpected(void *elements, const Part &part) {
  const auto type = static_cast<ncclDataType_t>(part.type);
  const auto count = static_cast<size_t>(part.count);
  std::vector<std::vector<char>> inputs(static_cast<size_t>(part.ranks), std::vector<char>(count * part.bytes()));
  std::vector<const char *> from;
  for (int rank = 0; rank < part.ranks; ++rank) {
    std::vector<char> &input = inputs[static_cast<size_t>(rank)];
    makeInput(input.data(), part, rank);
    alignas(8) char scalar[8];
    store(scalar, 0, part.type, rank % 2 == 0 ? 1 : 2);
    if (part.op == ncclNumOps)
      fake::scale(input.data(), count, type, scalar);
    from.push_back(input.data());
  }
  fake::reduce(elements, from.data(), part.ranks, count, type, sum(part.op));
}

int64_t countWrong(const void *results, const void *expected, const Part &part) {
  const size_t bytes = part.bytes();
  std::vector<char> made;
  if (expected == nullptr) {
    made.resize(static_cast<size_t>(part.count) * bytes);
    makeExpected(made.data(), part);
    expected = made.data();
  }
  int64_t wrong = 0;
  for (size_t i = 0; i < static_cast<size_t>(part.count); ++i)
    wrong += std::memcmp(static_cast<const char *>(results) + i * bytes,
                         static_cast<const char *>(expected) + i * bytes, bytes) != 0
                 ? 1
                 : 0;
  return wrong;
}

/// In stream order, as the kernels of nccl-tests are.
cudaError_t inStream(cudaStream_t stream, std::function<void()> work) {
  return cudaLaunchHostFunc(
      stream,
      [](void *of) {
        const std::unique_ptr<std::function<void()>> own(static_cast<std::function<void()> *>(of));
        (*own)();
      },
      new std::function<void()>(std::move(work)));
}

} // namespace

cudaError_t ncclVerifiablePrepareInput(void *elements, intptr_t count, int type, int op, int ranks, int rank,
                                       uint64_t seed, intptr_t first, cudaStream_t stream) {
  const Part part{count, type, op, ranks, seed, first};
  return inStream(stream, [=] { makeInput(elements, part, rank); });
}

cudaError_t ncclVerifiablePrepareExpected(void *elements, intptr_t count, int type, int op, int ranks, uint64_t seed,
                                          intptr_t first, cudaStream_t stream) {
  const Part part{count, type, op, ranks, seed, first};
  return inStream(stream, [=] { makeExpected(elements, part); });
}

cudaError_t ncclVerifiableVerify(void const *results, void const *expected, intptr_t count, int type, int op, int ranks,
                                 uint64_t seed, intptr_t first, int64_t *wrong, cudaStream_t stream) {
  const Part part{count, type, op, ranks, seed, first};
  return inStream(stream, [=] { *wrong = countWrong(results, expected, part); });
}
