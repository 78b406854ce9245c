// Tests calls with a configuration: who runs them, and that the real library gets the configuration.
#include "catch.h"
#include "world.h"

#include <cstddef>
#include <cstring>

using namespace testing;

namespace {

constexpr size_t count = 100; // of floats, which allreduce_packets runs, with three blocks at 4 ranks

ncclCollConfig_t tagged(unsigned long tag) {
  ncclCollConfig_t config = NCCL_COLLCONFIG_INITIALIZER;
  config.userProfilerTag = tag;
  return config;
}

/// An AllReduce in a group. The configuration is gone when the group ends.
bool reducesWith(World &world, const ncclCollConfig_t &config) {
  world.fill<float>(count);
  const ncclResult_t result = world.inGroup([&](int r) {
    ncclCollConfig_t own = config;
    const ncclResult_t asked = ncclAllReduceConfig(world.inputs[r], world.outputs[r], count, ncclFloat, ncclSum,
                                                   world.comms[r], world.streams[r], &own);
    std::memset(&own, 0xff, sizeof(own));
    return asked;
  });
  for (int r = 0; r < world.ranks(); ++r)
    for (size_t i = 0; i < count; ++i) {
      float wanted = 0;
      for (int from = 0; from < world.ranks(); ++from)
        wanted += valueOf<float>(from, i);
      if (world.output<float>(r)[i] != wanted)
        return false;
    }
  return result == ncclSuccess;
}

} // namespace

TEST_CASE("A kernel runs calls whose configuration asks for nothing else") {
  World world(4);
  CHECK(reducesRight<float>(world, count, ncclFloat, ncclSum));
  ncclCollConfig_t many = tagged(1);
  many.maxCTAs = 3;
  many.minCTAs = 1;
  many.algSelection = "";
  ncclCollConfig_t early = tagged(1); // of a version without the members at the end
  early.size = offsetof(ncclCollConfig_t, userProfilerTag);
  for (const ncclCollConfig_t &config : {tagged(1), many, early})
    CHECK(reachedBy("AllReduce", [&] { CHECK(reducesWith(world, config)); }) == 0);
  CHECK(reached("Tag1") == 0);
  const auto plain = [&](int r) {
    return ncclAllReduceConfig(world.inputs[r], world.outputs[r], count, ncclFloat, ncclSum, world.comms[r],
                               world.streams[r], nullptr);
  };
  CHECK(reachedBy("AllReduce", [&] { CHECK(world.inThreads(plain) == ncclSuccess); }) == 0);
}

TEST_CASE("A kernel with more blocks than a configuration allows is not taken, and NCCL gets the configuration") {
  World world(4);
  ncclCollConfig_t few = tagged(2);
  few.maxCTAs = 2;
  CHECK(reducesWith(world, few));
  CHECK(reached("Tag2") == 4);
}

TEST_CASE("What a configuration asks of NCCL makes a call NCCL's") {
  World world(2);
  cudaEvent_t event = nullptr;
  cudaSetDevice(0);
  REQUIRE(cudaEventCreateWithFlags(&event, cudaEventDisableTiming) == cudaSuccess);
  unsigned long tag = 10;
  const auto isNccls = [&](const std::function<void(ncclCollConfig_t &)> &change) {
    ncclCollConfig_t config = tagged(++tag);
    change(config);
    return reducesWith(world, config) && reached("Tag" + std::to_string(tag)) == 2;
  };
  CHECK(isNccls([](ncclCollConfig_t &config) { config.algSelection = "ring"; }));
  CHECK(isNccls([](ncclCollConfig_t &config) { config.CTAPolicy = 2; }));
  CHECK(isNccls([&](ncclCollConfig_t &config) { config.launchCompletionEvent = event; }));
  CHECK(isNccls([&](ncclCollConfig_t &config) { config.ext = &config; }));
  CHECK(isNccls([](ncclCollConfig_t &config) { config.size += 8; })); // of a version to come
  CHECK(isNccls([](ncclCollConfig_t &config) { config.magic = 0; })); // which NCCL refuses
  CHECK(isNccls([](ncclCollConfig_t &config) { config.maxCTAs = 0; }));
  cudaEventDestroy(event);
}

TEST_CASE("Each collective has a function with a configuration") {
  World world(2);
  ncclCollConfig_t config = tagged(3);
  config.CTAPolicy = 1; // so that all are NCCL's
  const auto check = [&](const char *name, const std::function<ncclResult_t(int)> &call) {
    const int before = reached("Tag3");
    CHECK(reachedBy(name, [&] { CHECK(world.inGroup(call) == ncclSuccess); }) == 2);
    CHECK(reached("Tag3") == before + 2);
  };
  const auto in = [&](int r) { return world.inputs[r]; };
  const auto out = [&](int r) { return world.outputs[r]; };
  const auto comm = [&](int r) { return world.comms[r]; };
  const auto stream = [&](int r) { return world.streams[r]; };
  check("AllGather",
        [&](int r) { return ncclAllGatherConfig(in(r), out(r), count, ncclFloat, comm(r), stream(r), &config); });
  check("ReduceScatter", [&](int r) {
    return ncclReduceScatterConfig(in(r), out(r), count, ncclFloat, ncclSum, comm(r), stream(r), &config);
  });
  check("Broadcast",
        [&](int r) { return ncclBroadcastConfig(in(r), out(r), count, ncclFloat, 1, comm(r), stream(r), &config); });
  check("Reduce", [&](int r) {
    return ncclReduceConfig(in(r), out(r), count, ncclFloat, ncclSum, 1, comm(r), stream(r), &config);
  });
  check("AlltoAll",
        [&](int r) { return ncclAlltoAllConfig(in(r), out(r), count, ncclFloat, comm(r), stream(r), &config); });
  check("Gather",
        [&](int r) { return ncclGatherConfig(in(r), out(r), count, ncclFloat, 1, comm(r), stream(r), &config); });
  check("Scatter",
        [&](int r) { return ncclScatterConfig(in(r), out(r), count, ncclFloat, 1, comm(r), stream(r), &config); });
}
