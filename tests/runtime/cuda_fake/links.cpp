// Tests how kernels signal over links with atomics and without, on the fake CUDA.
#include "fixture.h"

#include <cstdlib>
#include <cuda_runtime.h>

using namespace testing;

namespace {

const MscclcKernel &gather() {
  for (const MscclcKernel *kernel : loadLibrary(ON_DEVICE))
    if (kernel->name == std::string("gather4"))
      return *kernel;
  throw std::runtime_error("no such kernel");
}

/// The same kernel, which also records how many of its channels store counts, and how many ranks have the list of their
/// channels on their device.
class Watched {
public:
  explicit Watched(uint32_t flags = 0) : kernel(gather()), variant_(kernel.variants[0]) {
    kernel.flags |= flags;
    variant_.launch = [](const MscclcRankArgs *args, uint32_t threads, void *stream) {
      for (uint32_t k = 0; k < 3; ++k)
        storing += args->memory_channels[k].stores;
      cudaPointerAttributes attributes{};
      cudaPointerGetAttributes(&attributes, args->memory_channels);
      onDevice += attributes.type == cudaMemoryTypeDevice && attributes.device == static_cast<int>(args->rank) ? 1 : 0;
      return gather().variants[0].launch(args, threads, stream);
    };
    kernel.variants = &variant_;
  }
  MscclcKernel kernel;
  static inline uint32_t storing = 0, onDevice = 0;

private:
  MscclcVariant variant_;
};

class Links {
public:
  explicit Links(bool atomics) {
    if (!atomics)
      ::setenv("CUDA_FAKE_NO_ATOMICS", "1", 1);
  }
  ~Links() { ::unsetenv("CUDA_FAKE_NO_ATOMICS"); }
};

CommunicatorOptions onDevices(const int32_t *devices = nullptr) {
  CommunicatorOptions options(4);
  options.platform = MSCCLC_PLATFORM_CUDA;
  options.devices = devices;
  options.wait_timeout_ms = 60000;
  return options;
}

/// Launches a few times. Returns how many channels of how many ranks stored counts in the last launch.
uint32_t launched(Communicator &communicator, Instance &instance, Buffer &buffer) {
  for (uint64_t round = 0; round < 5; ++round) {
    Watched::storing = Watched::onDevice = 0;
    for (uint32_t rank = 0; rank < 4; ++rank)
      buffer.write(rank, dataOf(rank, 64, 0, round), rank * 64);
    instance.launch(Call().inPlace(buffer).of(256, MSCCLC_U8));
    communicator.synchronize();
    for (uint32_t rank = 0; rank < 4; ++rank)
      for (uint32_t from = 0; from < 4; ++from)
        CHECK(buffer.read<unsigned char>(rank, 64, from * 64) == dataOf(from, 64, 0, round));
  }
  return Watched::storing;
}

} // namespace

TEST_CASE("Signals are stored as counts where links do not add, and the counts begin anew after a reset") {
  for (const bool atomics : {true, false}) {
    const Links links(atomics);
    Watched watched;
    Communicator communicator(onDevices());
    Buffer buffer = communicator.allocate(256);
    Instance instance = communicator.load(watched.kernel, 256);
    CHECK(launched(communicator, instance, buffer) == (atomics ? 0 : 12));
    communicator.abort("to be reset");
    communicator.reset();
    CHECK(launched(communicator, instance, buffer) == (atomics ? 0 : 12));
  }
}

TEST_CASE("Ranks of one device add to each other's counters") {
  const Links links(false);
  const int32_t devices[] = {0, 0, 1, 1};
  Watched watched;
  Communicator communicator(onDevices(devices));
  Buffer buffer = communicator.allocate(256);
  Instance instance = communicator.load(watched.kernel, 256);
  CHECK(launched(communicator, instance, buffer) == 8);
}

TEST_CASE("The list of channels is on the device where a kernel says so, and else in the launching thread's memory") {
  for (const uint32_t flags : {0u, uint32_t{MSCCLC_CHANNEL_TABLE}}) {
    Watched watched(flags);
    Communicator communicator(onDevices());
    Buffer buffer = communicator.allocate(256);
    Instance instance = communicator.load(watched.kernel, 256);
    launched(communicator, instance, buffer);
    CHECK(Watched::onDevice == (flags == 0 ? 0 : 4));
  }
}

TEST_CASE("A kernel of which several blocks signal on one channel needs atomics") {
  const Links links(false);
  Watched watched(MSCCLC_SHARED_SIGNALS);
  Communicator communicator(onDevices());
  const Failure refused = failureOf([&] { communicator.load(watched.kernel, 256); });
  CHECK(refused.code == MSCCLC_ERROR_UNSUPPORTED);
  CHECK(contains(refused.text, "several blocks of rank 0 signal on one channel to rank 1, and the link from device 0 "
                               "has no atomics"));
}
