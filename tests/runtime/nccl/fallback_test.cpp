// Tests what happens when something goes wrong.
#include "catch.h"
#include "world.h"

#include <chrono>
#include <thread>
#include <utility>

using namespace testing;

TEST_CASE("A call whose kernel fails is NCCL's, and a line says why", "[failing]") {
  World world(4); // the third launch fails on rank 1, when rank 0 runs already
  const auto sums = [&](bool inPlace = false) {
    world.fill<float>(256);
    const std::vector<void *> &results = inPlace ? world.inputs : world.outputs;
    const ncclResult_t result = world.inGroup([&](int r) {
      return ncclAllReduce(world.inputs[r], results[r], 256, ncclFloat, ncclSum, world.comms[r], world.streams[r]);
    });
    float wanted = 0;
    for (int r = 0; r < 4; ++r)
      wanted += valueOf<float>(r, 255);
    for (int r = 0; r < 4; ++r)
      if (static_cast<float *>(results[r])[255] != wanted)
        return false;
    return result == ncclSuccess;
  };
  CHECK(sums());
  CHECK(sums());
  CHECK(reached("AllReduce") == 0);
  // What rank 0 has begun does not touch the data, which is also where the result goes.
  const std::string said = saidBy([&] { CHECK(sums(true)); });
  CHECK(reached("AllReduce") == 4);
  CHECK_THAT(said, containsText("mscclc: allreduce of 1024 bytes of f32, sum, 4 ranks: NCCL runs it, because kernel "
                                "'allreduce_allpairs' did not run: "));
  CHECK(sums()); // and so are all after it
  CHECK(reached("AllReduce") == 8);
  ncclResult_t state = ncclInternalError;
  CHECK(ncclCommGetAsyncError(world.comms[0], &state) == ncclSuccess);
  CHECK(state == ncclSuccess); // no call was lost
}

TEST_CASE("A call whose kernel fails while an earlier one runs is lost, and the error stays", "[losing]") {
  World world(4); // the third launch fails
  const auto sums = [&] {
    ncclGroupStart();
    for (int r = 0; r < 4; ++r)
      ncclAllReduce(world.inputs[r], world.outputs[r], 256, ncclFloat, ncclSum, world.comms[r], world.streams[r]);
    return ncclGroupEnd();
  };
  world.fill<float>(256);
  CHECK(sums() == ncclSuccess); // so that everything is set up
  world.synchronize();
  for (int i = 0; i < 500; ++i) // what keeps the next one from ending
    cudaMemcpyAsync(world.outputs[0], world.inputs[0], World::room, cudaMemcpyDeviceToDevice, world.streams[0]);
  CHECK(sums() == ncclSuccess);
  CHECK(sums() == ncclInternalError);
  for (int repeat = 0; repeat < 2; ++repeat) {
    ncclResult_t state = ncclSuccess;
    CHECK(ncclCommGetAsyncError(world.comms[0], &state) == ncclSuccess);
    CHECK(state == ncclInternalError);
    CHECK(sums() == ncclInternalError);
  }
  CHECK(reached("AllReduce") == 0);
  // What NCCL asks of itself by its functions' names stays within it: there, all is well.
  CHECK(ncclCommFinalize(world.comms[0]) == ncclSuccess);
  for (ncclComm_t &comm : world.comms)
    CHECK(ncclCommAbort(std::exchange(comm, nullptr)) == ncclSuccess);
  world.synchronize();
}

TEST_CASE("An abort ends a call that waits for other ranks") {
  World world(2);
  // So that everything is set up.
  world.fill<float>(64);
  const auto call = [&](int r) {
    return ncclAllReduce(world.inputs[r], world.outputs[r], 64, ncclFloat, ncclSum, world.comms[r], world.streams[r]);
  };
  REQUIRE(world.inThreads(call) == ncclSuccess);
  ncclResult_t result = ncclSuccess;
  std::thread waits([&] {
    cudaSetDevice(0);
    result = call(0); // rank 1 does not come
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK(ncclCommAbort(world.comms[1]) == ncclSuccess);
  waits.join();
  CHECK(result == ncclInternalError);
  ncclResult_t state = ncclSuccess;
  CHECK(ncclCommGetAsyncError(world.comms[0], &state) == ncclSuccess);
  CHECK(state == ncclInternalError);
  CHECK(ncclCommAbort(world.comms[0]) == ncclSuccess);
  world.comms = {nullptr, nullptr};
  for (int rank = 0; rank < 2; ++rank)
    cudaStreamSynchronize(world.streams[rank]);
}

TEST_CASE("A call without a buffer is refused at once") {
  World world(2);
  CHECK(world.inGroup([&](int r) {
    return ncclAllReduce(nullptr, world.outputs[r], 64, ncclFloat, ncclSum, world.comms[r], world.streams[r]);
  }) == ncclInvalidArgument);
  CHECK(ncclAllReduce(world.inputs[0], world.outputs[0], 64, ncclFloat, ncclSum, nullptr, world.streams[0]) ==
        ncclInvalidArgument);
}
