// Tests who runs a call, a kernel or NCCL, and that the result is right in both cases.
#include "../captured.h"
#include "catch.h"
#include "mscclc/nccl.h"
#include "world.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>

using namespace testing;

namespace {

/// Bytes of the fake's devices together.
size_t freeMemory() {
  size_t available = 0, all = 0;
  cudaMemGetInfo(&available, &all);
  return available;
}

} // namespace

TEST_CASE("A kernel runs an AllReduce that it is listed for") {
  for (const int ranks : {2, 4}) {
    World world(ranks);
    const std::string said = saidBy([&] {
      CHECK(reachedBy("AllReduce", [&] {
              CHECK(reducesRight<float>(world, 1000, ncclFloat32, ncclSum));
              CHECK(reducesRight<float>(world, 100000, ncclFloat32, ncclSum)); // listed for another kernel
              CHECK(reducesRight<int32_t>(world, 1, ncclInt32, ncclSum));      // less than a share for each rank
              CHECK(reducesRight<float>(world, 1000, ncclFloat32, ncclSum, true));
            }) == 0);
    });
    if (ranks == 2) {
      CHECK_THAT(said, containsText("allreduce of 4000 bytes of f32, sum, 2 ranks: kernel 'allreduce_packets'"));
      CHECK_THAT(said, containsText("allreduce of 400000 bytes of f32, sum, 2 ranks: kernel 'allreduce_allpairs'"));
    }
  }
}

TEST_CASE("A communicator has windows for the kernels that were called, and one where they work in place") {
  World world(2);
  const auto taken = [before = freeMemory()] { return before - freeMemory(); };
  CHECK(reducesRight<float>(world, 1000, ncclFloat32, ncclSum));
  const size_t small = taken(); // of a kernel that is listed up to 256K: windows, and scratch for packets
  CHECK(small >= size_t{2} << 18);
  CHECK(small < size_t{6} << 20);
  CHECK(reducesRight<float>(world, 100000, ncclFloat32, ncclSum)); // of one for all that fits into 16M
  const size_t large = taken() - small;
  CHECK(large >= size_t{2} << 24);
  CHECK(large < size_t{3} << 24);
  const auto exchange = [&](int rank) {
    return ncclAlltoAll(world.inputs[rank], world.outputs[rank], 500, ncclFloat32, world.comms[rank],
                        world.streams[rank]);
  };
  CHECK(world.inGroup(exchange) == ncclSuccess); // its output takes the window that is there
  const size_t input = taken() - large - small;
  CHECK(input >= size_t{2} << 24);
  CHECK(input < size_t{3} << 24);
}

TEST_CASE("The greatest and the least are never made by a kernel that sums") {
  World world(4);
  // The AllReduce has variants for the sum and the greatest.
  CHECK(reachedBy("AllReduce", [&] { CHECK(reducesRight<float>(world, 512, ncclFloat32, ncclMax)); }) == 0);
  CHECK(reachedBy("AllReduce", [&] { CHECK(reducesRight<float>(world, 512, ncclFloat32, ncclMin)); }) == 4);
  // The ReduceScatter has a sum alone.
  const auto scatters = [&](ncclRedOp_t op, int64_t wantedBy(int64_t, int64_t)) {
    world.fill<int32_t>(64);
    REQUIRE(world.inGroup([&](int rank) {
      return ncclReduceScatter(world.inputs[rank], world.outputs[rank], 16, ncclInt32, op, world.comms[rank],
                               world.streams[rank]);
    }) == ncclSuccess);
    for (int rank = 0; rank < 4; ++rank)
      for (size_t i = 0; i < 16; ++i) {
        const size_t at = static_cast<size_t>(rank) * 16 + i;
        int64_t wanted = valueOf<int32_t>(0, at);
        for (int other = 1; other < 4; ++other)
          wanted = wantedBy(wanted, valueOf<int32_t>(other, at));
        if (world.output<int32_t>(rank)[i] != wanted)
          return false;
      }
    return true;
  };
  const auto sum = [](int64_t a, int64_t b) { return a + b; };
  const auto most = [](int64_t a, int64_t b) { return std::max(a, b); };
  CHECK(reachedBy("ReduceScatter", [&] { CHECK(scatters(ncclSum, sum)); }) == 0);
  CHECK(reachedBy("ReduceScatter", [&] { CHECK(scatters(ncclMax, most)); }) == 4);
}

TEST_CASE("Types and operations that few kernels have are run by those") {
  World world(2);
  constexpr size_t count = 300000; // bytes, of what is listed for the kernel
  CHECK(reachedBy("AllReduce", [&] {
          CHECK(reducesRight<double>(world, count / 8, ncclFloat64, ncclSum));
          CHECK(reducesRight<int64_t>(world, count / 8, ncclInt64, ncclMax));
          CHECK(reducesRight<int8_t>(world, count, ncclInt8, ncclSum));
          CHECK(reducesRight<float>(world, count / 4, ncclFloat32, ncclProd));
          CHECK(reducesRight<int32_t>(world, count / 4, ncclInt32, ncclProd));
          CHECK(reducesRight<int64_t>(world, count / 8, ncclInt64, ncclProd));
        }) == 0);
  // 1 and 2 in e4m3; 3 and 2 are their sum and product.
  for (const auto &[op, wanted] : {std::pair{ncclSum, uint8_t{0x44}}, std::pair{ncclProd, uint8_t{0x40}}}) {
    for (int rank = 0; rank < 2; ++rank)
      std::fill_n(world.input<uint8_t>(rank), count, uint8_t(rank == 0 ? 0x38 : 0x40));
    CHECK(reachedBy("AllReduce", [&, op = op] {
            CHECK(world.inGroup([&](int rank) {
              return ncclAllReduce(world.inputs[rank], world.outputs[rank], count, ncclFloat8e4m3, op,
                                   world.comms[rank], world.streams[rank]);
            }) == ncclSuccess);
          }) == 0);
    CHECK(std::count(world.output<uint8_t>(1), world.output<uint8_t>(1) + count, wanted) == count);
  }
  // Others are NCCL's.
  CHECK(reachedBy("AllReduce", [&] { CHECK(reducesRight<uint64_t>(world, count / 8, ncclUint64, ncclSum)); }) == 2);
  CHECK(reachedBy("AllReduce", [&] { CHECK(reducesRight<float>(world, 100, ncclFloat32, ncclProd)); }) == 2);
}

TEST_CASE("Types and operations that no kernel has go to NCCL") {
  World world(4);
  CHECK(reachedBy("AllReduce", [&] {
          CHECK(reducesRight<double>(world, 100, ncclFloat64, ncclSum));
          CHECK(reducesRight<int64_t>(world, 100, ncclInt64, ncclMax));
          CHECK(reducesRight<uint8_t>(world, 100, ncclUint8, ncclSum));
        }) == 12);
  // A type that NCCL does not know is refused by NCCL; so is an operation.
  CHECK_FALSE(reducesRight<float>(world, 100, static_cast<ncclDataType_t>(77), ncclSum));
  CHECK_FALSE(reducesRight<float>(world, 100, ncclFloat32, static_cast<ncclRedOp_t>(99)));
  // Every type can be moved. The first call sets everything up, which also gathers.
  world.fill<double>(100);
  const auto gathers = [&] {
    CHECK(world.inGroup([&](int rank) {
      return ncclAllGather(world.inputs[rank], world.outputs[rank], 100, ncclFloat64, world.comms[rank],
                           world.streams[rank]);
    }) == ncclSuccess);
  };
  gathers();
  CHECK(reachedBy("AllGather", gathers) == 0);
  for (int rank = 0; rank < 4; ++rank)
    for (int from = 0; from < 4; ++from)
      CHECK(std::equal(world.input<double>(from), world.input<double>(from) + 100,
                       world.output<double>(rank) + from * 100));
}

TEST_CASE("Every collective with a kernel is run by it") {
  World world(4);
  constexpr size_t count = 48;
  const auto check = [&](const char *name, auto call, auto wanted, auto outputs) {
    INFO(name);
    world.fill<float>(count * 4);
    CHECK(reachedBy(name, [&] { CHECK(world.inGroup(call) == ncclSuccess); }) == 0);
    for (int rank = 0; rank < 4; ++rank)
      for (size_t i = 0; i < outputs(rank); ++i)
        if (world.output<float>(rank)[i] != wanted(rank, i))
          FAIL("rank " << rank << ", element " << i << ": " << world.output<float>(rank)[i]);
  };
  const auto all = [](int) { return count; };
  const auto sum = [](size_t i) {
    float value = 0;
    for (int rank = 0; rank < 4; ++rank)
      value += valueOf<float>(rank, i);
    return value;
  };
  auto &w = world;
  check(
      "Broadcast",
      [&](int r) { return ncclBroadcast(w.inputs[r], w.outputs[r], count, ncclFloat, 0, w.comms[r], w.streams[r]); },
      [](int, size_t i) { return valueOf<float>(0, i); }, all);
  check(
      "Reduce",
      [&](int r) {
        return ncclReduce(w.inputs[r], w.outputs[r], count, ncclFloat, ncclSum, 0, w.comms[r], w.streams[r]);
      },
      [&](int, size_t i) { return sum(i); }, [](int rank) { return rank == 0 ? count : 0; });
  check(
      "AlltoAll",
      [&](int r) { return ncclAlltoAll(w.inputs[r], w.outputs[r], count, ncclFloat, w.comms[r], w.streams[r]); },
      [](int rank, size_t i) {
        return valueOf<float>(static_cast<int>(i / count), static_cast<size_t>(rank) * count + i % count);
      },
      [](int) { return 4 * count; });
  check(
      "Gather",
      [&](int r) { return ncclGather(w.inputs[r], w.outputs[r], count, ncclFloat, 0, w.comms[r], w.streams[r]); },
      [](int, size_t i) { return valueOf<float>(static_cast<int>(i / count), i % count); },
      [](int rank) { return rank == 0 ? 4 * count : 0; });
  check(
      "Scatter",
      [&](int r) { return ncclScatter(w.inputs[r], w.outputs[r], count, ncclFloat, 0, w.comms[r], w.streams[r]); },
      [](int rank, size_t i) { return valueOf<float>(0, static_cast<size_t>(rank) * count + i); }, all);
  // Another root than the kernel's is NCCL's.
  CHECK(reachedBy("Broadcast", [&] {
          CHECK(w.inGroup([&](int r) {
            return ncclBroadcast(w.inputs[r], w.outputs[r], count, ncclFloat, 1, w.comms[r], w.streams[r]);
          }) == ncclSuccess);
        }) == 4);
}

TEST_CASE("A result may lie where its data was") {
  World world(4);
  world.fill<float>(256);
  CHECK(reachedBy("AllReduce", [&] {
          CHECK(world.inGroup([&](int r) {
            return ncclAllReduce(world.inputs[r], world.inputs[r], 256, ncclFloat, ncclSum, world.comms[r],
                                 world.streams[r]);
          }) == ncclSuccess);
        }) == 0);
  float wanted = 0;
  for (int rank = 0; rank < 4; ++rank)
    wanted += valueOf<float>(rank, 255);
  CHECK(world.input<float>(3)[255] == wanted);
}

TEST_CASE("A group with several calls of a communicator is NCCL's as a whole") {
  World world(2);
  world.fill<float>(200);
  CHECK(reachedBy("AllReduce", [&] {
          CHECK(world.inGroup([&](int r) {
            float *const in = world.input<float>(r), *const out = world.output<float>(r);
            const ncclResult_t result =
                ncclAllReduce(in, out, 100, ncclFloat, ncclSum, world.comms[r], world.streams[r]);
            return result != ncclSuccess
                       ? result
                       : ncclAllReduce(in + 100, out + 100, 100, ncclFloat, ncclMax, world.comms[r], world.streams[r]);
          }) == ncclSuccess);
        }) == 4);
  for (int rank = 0; rank < 2; ++rank) {
    CHECK(world.output<float>(rank)[7] == valueOf<float>(0, 7) + valueOf<float>(1, 7));
    CHECK(world.output<float>(rank)[107] == std::max(valueOf<float>(0, 107), valueOf<float>(1, 107)));
  }
}

TEST_CASE("What else a rank has in its group decides nothing for a communicator") {
  World world(2), alone(1);
  const auto sum = [&](int r) {
    return ncclAllReduce(world.inputs[r], world.outputs[r], 100, ncclFloat, ncclSum, world.comms[r], world.streams[r]);
  };
  // A communicator, and a send to itself, that rank 1 does not have.
  const auto withOther = [&](int r) {
    if (r != 0)
      return sum(r);
    ncclGroupStart();
    CHECK(sum(0) == ncclSuccess);
    CHECK(ncclSend(world.inputs[0], 50, ncclFloat, 0, world.comms[0], alone.streams[0]) == ncclSuccess);
    CHECK(ncclRecv(world.output<float>(0) + 100, 50, ncclFloat, 0, world.comms[0], alone.streams[0]) == ncclSuccess);
    CHECK(ncclAllReduce(alone.inputs[0], alone.outputs[0], 100, ncclFloat64, ncclSum, alone.comms[0],
                        alone.streams[0]) == ncclSuccess);
    return ncclGroupEnd();
  };
  for (int repeat = 0; repeat < 2; ++repeat) {
    world.fill<float>(100);
    alone.fill<double>(100);
    CHECK(reachedBy("AllReduce", [&] { CHECK(world.inThreads(withOther) == ncclSuccess); }) == 1);
    alone.synchronize();
    for (int r = 0; r < 2; ++r)
      CHECK(world.output<float>(r)[99] == valueOf<float>(0, 99) + valueOf<float>(1, 99));
    CHECK(world.output<float>(0)[149] == valueOf<float>(0, 49));
    CHECK(alone.output<double>(0)[99] == valueOf<double>(0, 99));
  }
}

TEST_CASE("The program's selector decides, and may set another one") {
  World world(2);
  struct Asked {
    int32_t answer = 0;
    int times = 0;
    uint64_t bytes = 0;
  } asked;
  const MscclcSelectFunction selects = [](const MscclcQuery *query, const MscclcKernel *const *, uint32_t, void *user) {
    Asked &mine = *static_cast<Asked *>(user);
    ++mine.times;
    mine.bytes = query->message_bytes;
    if (mine.answer == 1)
      mscclc_nccl_set_selector(nullptr, nullptr);
    return mine.answer == 1 ? 0 : mine.answer;
  };
  const auto sums = [&] {
    return reachedBy("AllReduce", [&] { CHECK(reducesRight<float>(world, 1000, ncclFloat32, ncclSum)); });
  };
  asked.answer = -1;
  mscclc_nccl_set_selector(selects, &asked);
  CHECK(sums() == 2);
  CHECK(asked.bytes == 4000);
  const int times = asked.times;
  CHECK(sums() == 2);
  CHECK(asked.times == times); // remembered
  asked = {1, 0, 0};
  mscclc_nccl_set_selector(selects, &asked);
  CHECK(sums() == 0);
  CHECK(asked.times == 1);
  CHECK(sums() == 0);
  CHECK(asked.times == 1); // and taken back
}

TEST_CASE("Sends and receives of a group stay together, within groups of groups too") {
  World world(2);
  world.fill<float>(100);
  CHECK(world.inGroup([&](int r) {
    ncclGroupStart();
    ncclSend(world.inputs[r], 100, ncclFloat, 1 - r, world.comms[r], world.streams[r]);
    ncclRecv(world.outputs[r], 100, ncclFloat, 1 - r, world.comms[r], world.streams[r]);
    return ncclGroupEnd();
  }) == ncclSuccess);
  for (int rank = 0; rank < 2; ++rank)
    CHECK(world.output<float>(rank)[99] == valueOf<float>(1 - rank, 99));
}

TEST_CASE("A communicator that does not block is waited for") {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  World world(4, &config);
  CHECK(reachedBy("AllReduce", [&] { CHECK(reducesRight<float>(world, 64, ncclFloat32, ncclSum)); }) == 0);
  ncclResult_t state = ncclInProgress;
  for (int i = 0; i < 10 && state == ncclInProgress; ++i)
    REQUIRE(ncclCommGetAsyncError(world.comms[0], &state) == ncclSuccess);
  CHECK(state == ncclSuccess);
}

TEST_CASE("The parts of a communicator that was split have kernels of their own") {
  World world(4);
  CHECK(reducesRight<float>(world, 64, ncclFloat32, ncclSum));
  std::vector<ncclComm_t> parts(4);
  REQUIRE(world.inGroup([&](int r) { return ncclCommSplit(world.comms[r], r / 2, r, &parts[r], nullptr); }) ==
          ncclSuccess);
  World low({parts[0], parts[1]});
  CHECK(reachedBy("AllReduce", [&] { CHECK(reducesRight<float>(low, 64, ncclFloat32, ncclSum)); }) == 0);
  ncclCommDestroy(parts[2]);
  ncclCommDestroy(parts[3]);
  CHECK(reducesRight<float>(world, 64, ncclFloat32, ncclSum));
}

TEST_CASE("Calls that are captured are repeated by the graph") {
  World world(4);
  for (const bool first : {true, false}) { // at the first, everything is set up under capture
    for (cudaStream_t stream : world.streams)
      REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    const size_t count = first ? 300 : 301;
    CHECK(reachedBy("AllReduce", [&] {
            REQUIRE(ncclGroupStart() == ncclSuccess);
            for (int r = 0; r < 4; ++r)
              CHECK(ncclAllReduce(world.inputs[r], world.outputs[r], count, ncclFloat, ncclSum, world.comms[r],
                                  world.streams[r]) == ncclSuccess);
            REQUIRE(ncclGroupEnd() == ncclSuccess);
          }) == 0);
    const std::vector<cudaGraphExec_t> graphs = endCaptures(world.streams);
    REQUIRE(!graphs.empty());
    for (int repeat = 0; repeat < 3; ++repeat) {
      world.fill<float>(count);
      for (int r = 0; r < 4; ++r)
        world.input<float>(r)[count - 1] += static_cast<float>(repeat);
      for (int r = 0; r < 4; ++r) {
        cudaSetDevice(r);
        cudaGraphLaunch(graphs[r], world.streams[r]);
      }
      world.synchronize();
      float wanted = 4 * static_cast<float>(repeat);
      for (int r = 0; r < 4; ++r)
        wanted += valueOf<float>(r, count - 1);
      for (int r = 0; r < 4; ++r)
        CHECK(world.output<float>(r)[count - 1] == wanted);
    }
    for (cudaGraphExec_t graph : graphs)
      cudaGraphExecDestroy(graph);
  }
}

TEST_CASE("Calls on several streams follow each other") {
  World world(2);
  std::vector<cudaStream_t> others(2);
  for (int r = 0; r < 2; ++r) {
    cudaSetDevice(r);
    cudaStreamCreateWithFlags(&others[r], cudaStreamNonBlocking);
  }
  world.fill<float>(1000);
  const auto submit = [&](const std::vector<cudaStream_t> &streams, size_t at) {
    ncclGroupStart();
    for (int r = 0; r < 2; ++r)
      ncclAllReduce(world.input<float>(r) + at, world.output<float>(r) + at, 100, ncclFloat, ncclSum, world.comms[r],
                    streams[r]);
    return ncclGroupEnd();
  };
  for (size_t i = 0; i < 10; ++i)
    REQUIRE(submit(i % 2 == 0 ? world.streams : others, i * 100) == ncclSuccess);
  world.synchronize();
  for (int r = 0; r < 2; ++r)
    cudaStreamSynchronize(others[r]);
  for (size_t i = 0; i < 1000; ++i)
    if (world.output<float>(1)[i] != valueOf<float>(0, i) + valueOf<float>(1, i))
      FAIL("element " << i);
  for (int r = 0; r < 2; ++r) {
    cudaSetDevice(r);
    cudaStreamDestroy(others[r]);
  }
}

TEST_CASE("The default streams of devices order calls as other streams do") {
  World world(4);
  const std::vector<cudaStream_t> own = std::exchange(world.streams, std::vector<cudaStream_t>(4));
  for (const bool threads : {false, true})
    for (const size_t count : {size_t{300}, size_t{100000}})
      CHECK(reachedBy("AllReduce", [&] {
              for (int repeat = 0; repeat < 3; ++repeat)
                CHECK(reducesRight<float>(world, count, ncclFloat, ncclSum, threads));
            }) == 0);
  world.streams = own;
}

TEST_CASE("A replay of a graph that overlaps a call is an error, not a wrong result") {
  World world(2);
  CHECK(reducesRight<float>(world, 100, ncclFloat, ncclSum)); // so that everything is set up
  std::vector<cudaStream_t> others(2);
  for (int r = 0; r < 2; ++r) {
    cudaSetDevice(r);
    cudaStreamCreateWithFlags(&others[r], cudaStreamNonBlocking);
    REQUIRE(cudaStreamBeginCapture(others[r], cudaStreamCaptureModeThreadLocal) == cudaSuccess);
  }
  const auto submit = [&](const std::vector<cudaStream_t> &streams) {
    ncclGroupStart();
    for (int r = 0; r < 2; ++r)
      ncclAllReduce(world.inputs[r], world.outputs[r], 100, ncclFloat, ncclSum, world.comms[r], streams[r]);
    return ncclGroupEnd();
  };
  REQUIRE(submit(others) == ncclSuccess);
  const std::vector<cudaGraphExec_t> graphs = endCaptures(others);
  REQUIRE(!graphs.empty());
  const auto replay = [&](int r) {
    cudaSetDevice(r);
    cudaGraphLaunch(graphs[r], others[r]);
  };
  const auto state = [&] {
    ncclResult_t result = ncclSuccess;
    ncclCommGetAsyncError(world.comms[0], &result);
    return result;
  };
  // In order: well, however often.
  for (int i = 0; i < 3; ++i) {
    replay(0);
    replay(1);
    cudaStreamSynchronize(others[0]);
    cudaStreamSynchronize(others[1]);
    CHECK(reducesRight<float>(world, 100, ncclFloat, ncclSum));
  }
  CHECK(state() == ncclSuccess);
  // Rank 0 waits for rank 1 in the replay or in the call, whichever begins first, when the other one begins. Rank 1's
  // call waits until that was found. Otherwise rank 0's replay could end with it, and nothing would overlap.
  std::atomic<bool> wasFound{false};
  const std::string said = saidBy([&] {
    replay(0);
    cudaSetDevice(1);
    cudaLaunchHostFunc(
        world.streams[1], [](void *found) { static_cast<std::atomic<bool> *>(found)->wait(false); }, &wasFound);
    submit(world.streams);
    for (int i = 0; i < 6000 && state() == ncclSuccess; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    wasFound = true;
    wasFound.notify_all();
    world.synchronize();
    replay(1);
    cudaStreamSynchronize(others[0]);
    cudaStreamSynchronize(others[1]);
    CHECK(state() != ncclSuccess);
    CHECK(submit(world.streams) != ncclSuccess); // what is lost cannot be made up for
  });
  CHECK_THAT(said, containsText("began launch "));
  CHECK_THAT(said, containsText(" while another launch of the same instance ran"));
  for (cudaGraphExec_t graph : graphs)
    cudaGraphExecDestroy(graph);
  for (ncclComm_t &comm : world.comms)
    CHECK(ncclCommAbort(std::exchange(comm, nullptr)) == ncclSuccess);
  for (cudaStream_t stream : others)
    cudaStreamDestroy(stream);
}
