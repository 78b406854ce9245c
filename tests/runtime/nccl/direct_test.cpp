// Tests kernels on the program's own memory: memory that is registered on all ranks is not copied.
#include "../captured.h"
#include "catch.h"
#include "world.h"

#include <cstdlib>
#include <dlfcn.h>
#include <utility>

using namespace testing;

namespace {

constexpr const char *own = ": on the program's memory", *copied = ": by copies to windows and back";

template <class Function> Function *ofFake(const char *name) {
  return reinterpret_cast<Function *>(::dlsym(::dlopen(std::getenv("MSCCLC_NCCL_LIB_PATH"), RTLD_NOW), name));
}

/// Memory of ncclMemAlloc, used as the inputs and outputs of a world. The runtime can identify memory that belongs to
/// the fake NCCL only by its windows.
class Lent {
public:
  explicit Lent(World &world, bool fakes = false)
      : world_(world), inputs_(world.inputs), outputs_(world.outputs),
        free_(fakes ? ofFake<decltype(ncclMemFree)>("ncclMemFree") : ncclMemFree) {
    auto *const allocate = fakes ? ofFake<decltype(ncclMemAlloc)>("ncclMemAlloc") : ncclMemAlloc;
    for (int rank = 0; rank < world.ranks(); ++rank) {
      cudaSetDevice(rank);
      REQUIRE(allocate(&world.inputs[rank], World::room) == ncclSuccess);
      REQUIRE(allocate(&world.outputs[rank], World::room) == ncclSuccess);
    }
  }
  ~Lent() {
    for (int rank = 0; rank < world_.ranks(); ++rank) {
      free_(std::exchange(world_.inputs[rank], inputs_[rank]));
      free_(std::exchange(world_.outputs[rank], outputs_[rank]));
    }
  }
  Lent(const Lent &) = delete;

private:
  World &world_;
  const std::vector<void *> inputs_, outputs_;
  decltype(&ncclMemFree) free_;
};

/// Windows of the inputs and outputs of all ranks.
class Windows {
public:
  explicit Windows(World &world) : world_(world), windows_(2 * world.inputs.size()) {
    CHECK(world.inGroup([&](int r) {
      ncclCommWindowRegister(world.comms[r], world.inputs[r], World::room, &windows_[2 * r], NCCL_WIN_COLL_SYMMETRIC);
      return ncclCommWindowRegister(world.comms[r], world.outputs[r], World::room, &windows_[2 * r + 1],
                                    NCCL_WIN_COLL_SYMMETRIC);
    }) == ncclSuccess);
  }
  ~Windows() {
    for (size_t i = 0; i < windows_.size(); ++i)
      CHECK(ncclCommWindowDeregister(world_.comms[i / 2], windows_[i]) == ncclSuccess);
  }
  Windows(const Windows &) = delete;

private:
  World &world_;
  std::vector<ncclWindow_t> windows_;
};

/// Returns what is printed for sums of `count` floats. Checks that they are right, and that NCCL computes none of them.
std::string sums(World &world, size_t count, ncclRedOp_t op = ncclSum) {
  return saidBy(
      [&] { CHECK(reachedBy("AllReduce", [&] { CHECK(reducesRight<float>(world, count, ncclFloat32, op)); }) == 0); });
}

} // namespace

TEST_CASE("Data in windows of all ranks is not copied, and the input stays") {
  World world(4);
  const Lent memory(world);
  const Windows windows(world);
  // By packets, and by puts.
  CHECK_THAT(sums(world, 1024), containsText(own));
  CHECK_THAT(sums(world, 200000, ncclMax), containsText(own));
  for (size_t i = 0; i < 200000; ++i)
    if (world.input<float>(1)[i] != valueOf<float>(1, i))
      FAIL("element " << i);
  CHECK_THAT(sums(world, 5555), containsText(own)); // and nothing is written behind it
  CHECK(world.output<unsigned char>(2)[5555 * sizeof(float)] == 0xa5);
  // Where the result lies in its data's place, too.
  world.fill<float>(4096);
  const std::string said = saidBy([&] {
    CHECK(world.inGroup([&](int r) {
      return ncclAllGather(world.input<float>(r) + 1024 * r, world.inputs[r], 1024, ncclFloat, world.comms[r],
                           world.streams[r]);
    }) == ncclSuccess);
  });
  CHECK_THAT(said, containsText(own));
  for (int r = 0; r < 4; ++r)
    CHECK(world.input<float>(0)[1024 * r + 7] == valueOf<float>(r, static_cast<size_t>(1024 * r + 7)));
}

TEST_CASE("A kernel whose buffers are apart works on both of the program's") {
  World world(2);
  const Lent memory(world);
  const Windows windows(world);
  world.fill<float>(2048);
  const std::string said = saidBy([&] {
    CHECK(reachedBy("AlltoAll", [&] {
            CHECK(world.inGroup([&](int r) {
              return ncclAlltoAll(world.inputs[r], world.outputs[r], 1024, ncclFloat, world.comms[r], world.streams[r]);
            }) == ncclSuccess);
          }) == 0);
  });
  CHECK_THAT(said, containsText(own));
  CHECK(world.output<float>(1)[5] == valueOf<float>(0, 1029));
  CHECK(world.output<float>(0)[1029] == valueOf<float>(1, 5));
}

TEST_CASE("Averages on the program's memory are scaled there") {
  World world(2);
  const Lent memory(world);
  const Windows windows(world);
  const auto averages = [&](auto value, ncclDataType_t type) {
    using T = decltype(value);
    world.fill<T>(512);
    const std::string said = saidBy([&] {
      CHECK(reachedBy("AllReduce", [&] {
              CHECK(world.inGroup([&](int r) {
                return ncclAllReduce(world.inputs[r], world.outputs[r], 512, type, ncclAvg, world.comms[r],
                                     world.streams[r]);
              }) == ncclSuccess);
            }) == 0);
    });
    CHECK_THAT(said, containsText(own));
    for (size_t i = 0; i < 512; ++i)
      if (world.output<T>(1)[i] != static_cast<T>((valueOf<T>(0, i) + valueOf<T>(1, i)) / 2) ||
          world.input<T>(0)[i] != valueOf<T>(0, i))
        FAIL("element " << i);
  };
  averages(0.0F, ncclFloat32);
  averages(0, ncclInt32);
}

TEST_CASE("What is not registered on all ranks at one offset is copied") {
  World world(2);
  {
    const Lent memory(world);
    {
      const Windows windows(world);
      world.fill<float>(4096);
      const std::string said = saidBy([&] {
        CHECK(world.inGroup([&](int r) {
          return ncclAllReduce(world.inputs[r], world.output<float>(r) + 4 * r, 512, ncclFloat, ncclSum, world.comms[r],
                               world.streams[r]);
        }) == ncclSuccess);
      });
      CHECK_THAT(said, containsText(copied));
      CHECK(world.output<float>(1)[4] == valueOf<float>(0, 0) + valueOf<float>(1, 0));
    }
    // All of the memory is NCCL's, and all ranks are in this process.
    CHECK_THAT(sums(world, 2048), containsText(own));
    std::swap(world.outputs, world.inputs);
    CHECK_THAT(sums(world, 2050), containsText(own));
    std::swap(world.outputs, world.inputs);
  }
  CHECK_THAT(sums(world, 2052), containsText(copied));
  // As registered for NCCL, on each rank.
  std::vector<void *> handles(4);
  for (int r = 0; r < 2; ++r)
    CHECK(ncclCommRegister(world.comms[r], world.inputs[r], World::room, &handles[2 * r]) == ncclSuccess);
  CHECK(ncclCommRegister(world.comms[0], world.outputs[0], World::room, &handles[1]) == ncclSuccess);
  CHECK_THAT(sums(world, 2054), containsText(copied));
  CHECK(ncclCommRegister(world.comms[1], world.outputs[1], World::room, &handles[3]) == ncclSuccess);
  CHECK_THAT(sums(world, 2056), containsText(own));
  for (size_t i = 0; i < 4; ++i)
    CHECK(ncclCommDeregister(world.comms[i / 2], handles[i]) == ncclSuccess);
  CHECK_THAT(sums(world, 2058), containsText(copied));
}

TEST_CASE("Windows of communicators that do not block are known when the program knows of them") {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  World world(2, &config);
  const Lent memory(world, true);
  const auto await = [&] {
    for (ncclComm_t comm : world.comms)
      for (ncclResult_t state = ncclInProgress; state != ncclSuccess;)
        REQUIRE(ncclCommGetAsyncError(comm, &state) == ncclSuccess);
  };
  await();
  std::vector<ncclWindow_t> windows(4);
  const auto registers = [&](int r, size_t which) {
    return ncclCommWindowRegister(world.comms[r], which == 0 ? world.inputs[r] : world.outputs[r], World::room,
                                  &windows[2 * static_cast<size_t>(r) + which], NCCL_WIN_COLL_SYMMETRIC);
  };
  // One thread for both ranks, whose calls wait for each other.
  for (const size_t which : {0, 1}) {
    for (int r = 0; r < 2; ++r)
      CHECK(registers(r, which) == ncclInProgress);
    await();
  }
  CHECK_THAT(sums(world, 3100), containsText(own));
  for (size_t i = 0; i < 4; ++i)
    CHECK(ncclCommWindowDeregister(world.comms[i / 2], std::exchange(windows[i], nullptr)) == ncclSuccess);
  CHECK_THAT(sums(world, 3102), containsText(copied));
  // In a group, and with no question before the next call.
  CHECK(world.inGroup([&](int r) {
    registers(r, 0);
    return registers(r, 1);
  }) == ncclInProgress);
  CHECK_THAT(sums(world, 3104), containsText(own));
  for (size_t i = 0; i < 4; ++i)
    CHECK(ncclCommWindowDeregister(world.comms[i / 2], windows[i]) == ncclSuccess);
}

TEST_CASE("Windows come and go") {
  World world(2);
  for (size_t round = 0; round < 80; ++round) { // more than a communicator knows at once
    const Lent memory(world);
    const Windows windows(world);
    if (round % 20 != 19) {
      CHECK(reducesRight<float>(world, 64, ncclFloat32, ncclSum));
    } else {
      CHECK_THAT(sums(world, 64 + round - 19), containsText(round == 19 ? "" : own));
    }
  }
}

TEST_CASE("A graph keeps the program's memory that it was captured with") {
  World world(2);
  const Lent memory(world);
  const Windows windows(world);
  CHECK_THAT(sums(world, 3000), containsText(own));
  for (cudaStream_t stream : world.streams)
    REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
  REQUIRE(ncclGroupStart() == ncclSuccess);
  for (int r = 0; r < 2; ++r)
    CHECK(ncclAllReduce(world.inputs[r], world.outputs[r], 3000, ncclFloat, ncclSum, world.comms[r],
                        world.streams[r]) == ncclSuccess);
  REQUIRE(ncclGroupEnd() == ncclSuccess);
  const std::vector<cudaGraphExec_t> graphs = endCaptures(world.streams);
  REQUIRE(!graphs.empty());
  world.fill<float>(3000);
  for (int r = 0; r < 2; ++r) {
    cudaSetDevice(r);
    cudaGraphLaunch(graphs[r], world.streams[r]);
  }
  world.synchronize();
  CHECK(world.output<float>(1)[2999] == valueOf<float>(0, 2999) + valueOf<float>(1, 2999));
  for (cudaGraphExec_t graph : graphs)
    cudaGraphExecDestroy(graph);
}

// The list of these tests has a kernel that works in place, of 5 us, and one that does not, of 4 us to 1024 bytes and
// of 8 us beyond. Halves have a kernel of their own.
TEST_CASE("The kernel in place and the other one are chosen by the call", "[both]") {
  constexpr const char *inPlace = "kernel 'allreduce_packets',", *apart = "kernel 'allreduce_packets_oneshot',";
  World world(2);
  const Lent memory(world);
  const auto sums = [&](size_t count, bool isInPlace) {
    world.fill<float>(count);
    return saidBy([&] {
      CHECK(reachedBy("AllReduce", [&] {
              CHECK(world.inGroup([&](int r) {
                return ncclAllReduce(world.inputs[r], isInPlace ? world.inputs[r] : world.outputs[r], count, ncclFloat,
                                     ncclSum, world.comms[r], world.streams[r]);
              }) == ncclSuccess);
            }) == 0);
      CHECK((isInPlace ? world.input<float>(1) : world.output<float>(1))[7] ==
            valueOf<float>(0, 7) + valueOf<float>(1, 7));
    });
  };
  // Ranks may differ in whether such calls are in place. So the time decides.
  CHECK_THAT(sums(256, true), containsText(apart));
  CHECK_THAT(sums(512, false), containsText(inPlace));
  const Windows windows(world);
  for (const size_t count : {248, 504}) {
    const std::string first = sums(count, true), second = sums(count + 4, false);
    CHECK_THAT(first, containsText(std::string("2 ranks, in place: ") + inPlace));
    CHECK_THAT(second, containsText(std::string("2 ranks, not in place: ") + apart));
    CHECK_THAT(first, containsText(own));
    CHECK_THAT(second, containsText(own));
  }
}

TEST_CASE("A type has the kernel that is listed for it", "[both]") {
  World world(2);
  cudaMemset(world.inputs[0], 0, World::room);
  cudaMemset(world.inputs[1], 0, World::room);
  CHECK_THAT(saidBy([&] {
               CHECK(world.inGroup([&](int r) {
                 return ncclAllReduce(world.inputs[r], world.outputs[r], 64, ncclFloat16, ncclSum, world.comms[r],
                                      world.streams[r]);
               }) == ncclSuccess);
             }),
             containsText("kernel 'allreduce_allpairs',"));
}
