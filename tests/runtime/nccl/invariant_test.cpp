// Tests MSCCLC_INVARIANT: kernels of one order alone add floats. The folder's list names the orders of its kernels:
// one for small all-reduces of 4 ranks and none for larger ones, none for reduce-scatters, and two for 2 ranks.
#include "catch.h"
#include "world.h"

#include <cstring>

using namespace testing;

namespace {

constexpr size_t small = 256, large = 65536; ///< elements

ncclResult_t reduceScatter(World &world, size_t count) {
  world.fill<float>(count * world.comms.size());
  return world.inGroup([&](int rank) {
    return ncclReduceScatter(world.inputs[rank], world.outputs[rank], count, ncclFloat, ncclSum, world.comms[rank],
                             world.streams[rank]);
  });
}

/// Runs an all-reduce of floats in a group. Returns what groupEnd returns.
ncclResult_t sums(World &world, size_t count) {
  world.fill<float>(count);
  ncclGroupStart();
  for (int rank = 0; rank < world.ranks(); ++rank)
    ncclAllReduce(world.inputs[rank], world.outputs[rank], count, ncclFloat, ncclSum, world.comms[rank],
                  world.streams[rank]);
  const ncclResult_t result = ncclGroupEnd();
  world.synchronize();
  return result;
}

constexpr const char *ofOwnOrder = "; NCCL adds in an order of its own\n";

} // namespace

TEST_CASE("Calls in the order that the list names are the kernel's", "[invariant][strict]") {
  World world(4);
  CHECK(reachedBy("AllReduce", [&] {
          CHECK(reducesRight<float>(world, small, ncclFloat, ncclSum));
          CHECK(reducesRight<float>(world, small, ncclFloat, ncclSum, true));
          // These have no order, so any kernel will do.
          CHECK(reducesRight<float>(world, large, ncclFloat, ncclMax));
          CHECK(reducesRight<int>(world, large, ncclInt, ncclSum));
        }) == 0);
  // NCCL runs calls without an order, as always.
  CHECK(saidBy([&] { CHECK(reducesRight<int>(world, small, ncclInt, ncclMin)); }).find(ofOwnOrder) ==
        std::string::npos);
}

TEST_CASE("Other sums of floats are NCCL's, with a warning", "[invariant]") {
  World world(4);
  std::string said;
  CHECK(reachedBy("AllReduce",
                  [&] { said = saidBy([&] { CHECK(reducesRight<float>(world, large, ncclFloat, ncclSum)); }); }) == 4);
  CHECK(said == std::string("mscclc: allreduce of 262144 bytes of f32, sum, 4 ranks: NCCL runs it, because kernel "
                            "'allreduce_allpairs': by the list, it does not sum all elements in one order") +
                    ofOwnOrder);
  CHECK(saidBy([&] { CHECK(reducesRight<float>(world, large, ncclFloat, ncclSum)); }).empty()); // once
  CHECK(reachedBy("ReduceScatter", [&] { CHECK(reduceScatter(world, small) == ncclSuccess); }) == 4);
}

TEST_CASE("Two orders in the list are none", "[invariant]") {
  World world(2);
  const std::string said = saidBy([&] {
    CHECK(reachedBy("AllReduce", [&] { CHECK(reducesRight<float>(world, small, ncclFloat, ncclSum)); }) == 2);
  });
  CHECK_THAT(said, containsText("listed with other kernels whose sums have another order; NCCL adds"));
}

TEST_CASE("Several calls of a communicator in a group are NCCL's, with a warning", "[invariant]") {
  World world(4);
  world.fill<float>(small);
  const std::string said = saidBy([&] {
    CHECK(world.inGroup([&](int rank) {
      for (int repeat = 0; repeat < 2; ++repeat)
        ncclAllReduce(world.inputs[rank], world.outputs[rank], small, ncclFloat, ncclSum, world.comms[rank],
                      world.streams[rank]);
      return ncclSuccess;
    }) == ncclSuccess);
  });
  CHECK_THAT(said, containsText("NCCL runs it, because a group has several calls of the communicator; NCCL adds"));
}

TEST_CASE("Strictly, other sums of floats fail, and the last error says why", "[strict]") {
  World world(4);
  CHECK(reachedBy("AllReduce", [&] { CHECK(sums(world, large) == ncclInvalidUsage); }) == 0);
  const std::string why =
      "MSCCLC_INVARIANT=strict refuses allreduce of 262144 bytes of f32, sum, 4 ranks: NCCL runs it, because "
      "kernel 'allreduce_allpairs': by the list, it does not sum all elements in one order; "
      "NCCL adds in an order of its own";
  CHECK(ncclGetLastError(world.comms[0]) == why);
  CHECK(ncclGetLastError(nullptr) == why); // as PyTorch asks
  // The communicator goes on, and so does the text.
  ncclResult_t state = ncclInternalError;
  CHECK(ncclCommGetAsyncError(world.comms[0], &state) == ncclSuccess);
  CHECK(state == ncclSuccess);
  CHECK(reachedBy("AllReduce", [&] { CHECK(sums(world, small) == ncclSuccess); }) == 0);
  CHECK(ncclGetLastError(world.comms[0]) != why);
  CHECK(world.output<float>(3)[0] ==
        valueOf<float>(0, 0) + valueOf<float>(1, 0) + valueOf<float>(2, 0) + valueOf<float>(3, 0));
}

TEST_CASE("Strictly, a refused call in a group fails there and at its end", "[strict]") {
  World world(4);
  CHECK(reachedBy("ReduceScatter", [&] { CHECK(reduceScatter(world, small) == ncclInvalidUsage); }) == 0);
  world.fill<float>(small);
  ncclResult_t first = ncclSuccess, second = ncclSuccess;
  CHECK(reachedBy("AllReduce", [&] {
          ncclGroupStart();
          for (int rank = 0; rank < 4; ++rank)
            for (ncclResult_t *result : {&first, &second})
              *result = ncclAllReduce(world.inputs[rank], world.outputs[rank], small, ncclFloat, ncclSum,
                                      world.comms[rank], world.streams[rank]);
          CHECK(ncclGroupEnd() == ncclInvalidUsage);
        }) == 0);
  CHECK(first == ncclSuccess); // it was the communicator's only one until the second came
  CHECK(second == ncclInvalidUsage);
  world.synchronize();
}
