// Tests averages, and sums of data that each rank scales by its own factor. The results are as NCCL defines them, and
// come from kernels that add.
#include "catch.h"
#include "world.h"

#include <cstdint>
#include <functional>

using namespace testing;

namespace {

/// Numbers of both signs, whose averages are no whole numbers.
int32_t numberOf(int rank, size_t i) {
  return static_cast<int32_t>((static_cast<size_t>(rank) * 7 + i * 5) % 23) - 11;
}

template <class T> void fillWithNumbers(World &world, size_t count) {
  world.fill<T>(count);
  for (int rank = 0; rank < world.ranks(); ++rank)
    for (size_t i = 0; i < count; ++i)
      world.input<T>(rank)[i] = static_cast<T>(numberOf(rank, i));
}

/// Returns the sum of factor(rank) times the value of each rank.
template <class T> T sumAt(const World &world, size_t i, const std::function<T(int)> &factor) {
  T sum = 0;
  for (int rank = 0; rank < world.ranks(); ++rank)
    sum = static_cast<T>(sum + static_cast<T>(numberOf(rank, i)) * factor(rank));
  return sum;
}

template <class T> bool isThere(World &world, int rank, size_t count, const std::function<T(size_t)> &wanted) {
  for (size_t i = 0; i < count; ++i)
    if (world.output<T>(rank)[i] != wanted(i))
      return false;
  return true;
}

/// An AllReduce with an operation that each rank makes, uses and ends within the group; factor(rank) is rank + 2.
template <class T> ncclResult_t addScaled(World &world, size_t count, ncclDataType_t type, size_t calls = 1) {
  return world.inGroup([&](int rank) {
    // Ranks number their operations in different ways.
    ncclRedOp_t unused, op;
    T factor = static_cast<T>(rank + 2);
    if (rank == 1)
      ncclRedOpCreatePreMulSum(&unused, &factor, type, ncclScalarHostImmediate, world.comms[rank]);
    ncclRedOpCreatePreMulSum(&op, &factor, type, ncclScalarHostImmediate, world.comms[rank]);
    factor = 100;
    ncclResult_t result = ncclSuccess;
    for (size_t call = 0; call < calls && result == ncclSuccess; ++call)
      result = ncclAllReduce(world.input<T>(rank) + call * count, world.output<T>(rank) + call * count, count, type, op,
                             world.comms[rank], world.streams[rank]);
    const ncclResult_t ended = ncclRedOpDestroy(op, world.comms[rank]);
    if (rank == 1)
      ncclRedOpDestroy(unused, world.comms[rank]);
    return result == ncclSuccess ? ended : result;
  });
}

template <class T> T ownFactor(int rank) {
  return static_cast<T>(rank + 2);
}

} // namespace

TEST_CASE("Averages are made by kernels that add: of floats by scaling, of integers by dividing towards zero") {
  constexpr size_t count = 1003;
  World world(4);
  const auto averages = [&](ncclDataType_t type) {
    return world.inGroup([&](int r) {
      return ncclAllReduce(world.inputs[r], world.outputs[r], count, type, ncclAvg, world.comms[r], world.streams[r]);
    });
  };
  const int before = reached("AllReduce");
  fillWithNumbers<float>(world, count);
  CHECK(averages(ncclFloat32) == ncclSuccess);
  for (int rank = 0; rank < 4; ++rank)
    CHECK(isThere<float>(world, rank, count,
                         [&](size_t i) { return sumAt<float>(world, i, [](int) { return 1.0f; }) / 4; }));
  fillWithNumbers<int32_t>(world, count);
  CHECK(averages(ncclInt32) == ncclSuccess);
  for (int rank = 0; rank < 4; ++rank)
    CHECK(isThere<int32_t>(world, rank, count,
                           [&](size_t i) { return sumAt<int32_t>(world, i, [](int) { return 1; }) / 4; }));
  // Sums of these overflow, and their averages do not.
  for (int rank = 0; rank < 4; ++rank)
    for (size_t i = 0; i < count; ++i)
      world.input<__half>(rank)[i] = __float2half(60000.0f);
  CHECK(averages(ncclFloat16) == ncclSuccess);
  CHECK(__half2float(world.output<__half>(3)[count - 1]) == 60000.0f);
  CHECK(reached("AllReduce") == before);
}

TEST_CASE("Averages of parts, and on one rank") {
  constexpr size_t count = 40;
  World world(4);
  const auto wanted = [&](size_t i) { return sumAt<float>(world, i, [](int) { return 1.0f; }) / 4; };
  fillWithNumbers<float>(world, 4 * count);
  const int before = reached("ReduceScatter") + reached("Reduce");
  CHECK(world.inGroup([&](int r) {
    return ncclReduceScatter(world.inputs[r], world.outputs[r], count, ncclFloat, ncclAvg, world.comms[r],
                             world.streams[r]);
  }) == ncclSuccess);
  for (int rank = 0; rank < 4; ++rank)
    CHECK(isThere<float>(world, rank, count, [&](size_t i) { return wanted(static_cast<size_t>(rank) * count + i); }));
  CHECK(world.inGroup([&](int r) {
    return ncclReduce(world.inputs[r], world.outputs[r], count, ncclFloat, ncclAvg, 0, world.comms[r],
                      world.streams[r]);
  }) == ncclSuccess);
  CHECK(isThere<float>(world, 0, count, wanted));
  CHECK(reached("ReduceScatter") + reached("Reduce") == before);
}

TEST_CASE("Each rank's data is scaled by its own factor, also when its operation ends within the group") {
  World world(4);
  const int before = reached("AllReduce");
  fillWithNumbers<float>(world, 500);
  CHECK(addScaled<float>(world, 500, ncclFloat32) == ncclSuccess);
  for (int rank = 0; rank < 4; ++rank)
    CHECK(isThere<float>(world, rank, 500, [&](size_t i) { return sumAt<float>(world, i, ownFactor<float>); }));
  fillWithNumbers<int32_t>(world, 77);
  CHECK(addScaled<int32_t>(world, 77, ncclInt32) == ncclSuccess);
  CHECK(isThere<int32_t>(world, 2, 77, [&](size_t i) { return sumAt<int32_t>(world, i, ownFactor<int32_t>); }));
  CHECK(reached("AllReduce") == before);
  // What NCCL gets at the group's end, with operations that have ended by then.
  fillWithNumbers<int64_t>(world, 50);
  CHECK(addScaled<int64_t>(world, 50, ncclInt64) == ncclSuccess);
  CHECK(isThere<int64_t>(world, 1, 50, [&](size_t i) { return sumAt<int64_t>(world, i, ownFactor<int64_t>); }));
  fillWithNumbers<float>(world, 200);
  CHECK(addScaled<float>(world, 100, ncclFloat32, 2) == ncclSuccess);
  CHECK(isThere<float>(world, 3, 200, [&](size_t i) { return sumAt<float>(world, i, ownFactor<float>); }));
  CHECK(reached("AllReduce") == before + 4 + 8);
}

TEST_CASE("A factor on the device is read when the call runs") {
  World world(2);
  constexpr size_t count = 64;
  std::vector<void *> factors;
  std::vector<ncclRedOp_t> ops;
  for (int rank = 0; rank < 2; ++rank) {
    void *factor = nullptr;
    ncclRedOp_t op;
    cudaSetDevice(rank);
    cudaMalloc(&factor, sizeof(float));
    CHECK(ncclRedOpCreatePreMulSum(&op, factor, ncclFloat32, ncclScalarDevice, world.comms[rank]) == ncclSuccess);
    factors.push_back(factor);
    ops.push_back(op);
  }
  const auto reduces = [&](ncclDataType_t type) {
    return world.inGroup([&](int r) {
      return ncclAllReduce(world.inputs[r], world.outputs[r], count, type, ops[r], world.comms[r], world.streams[r]);
    });
  };
  const int before = reached("AllReduce");
  for (const float first : {0.5f, 3.0f}) {
    fillWithNumbers<float>(world, count);
    for (int rank = 0; rank < 2; ++rank)
      *static_cast<float *>(factors[static_cast<size_t>(rank)]) = first + static_cast<float>(rank);
    CHECK(reduces(ncclFloat32) == ncclSuccess);
    CHECK(isThere<float>(world, 1, count, [&](size_t i) {
      return sumAt<float>(world, i, [&](int rank) { return first + static_cast<float>(rank); });
    }));
  }
  CHECK(reached("AllReduce") == before);
  // An operation of another type is NCCL's to refuse, and so is one that has ended.
  reduces(ncclInt32);
  CHECK(reached("AllReduce") == before + 2);
  for (int rank = 0; rank < 2; ++rank) {
    CHECK(ncclRedOpDestroy(ops[static_cast<size_t>(rank)], world.comms[rank]) == ncclSuccess);
    cudaFree(factors[static_cast<size_t>(rank)]);
  }
  CHECK(reduces(ncclFloat32) == ncclInvalidArgument);
}
