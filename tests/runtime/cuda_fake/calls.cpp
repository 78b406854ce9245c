// Tests the number of driver calls of a launch. The fake CUDA counts them.
#include "captured.h"
#include "fake.h"
#include "fixture.h"

#include <atomic>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <malloc.h>
#include <thread>

using namespace testing;

namespace {

uint64_t calls(const char *function) {
  static const auto count = reinterpret_cast<uint64_t (*)(const char *)>(::dlsym(RTLD_DEFAULT, "cudaFakeCalls"));
  REQUIRE(count != nullptr);
  return count(function);
}

const MscclcKernel &onDevice(const char *name) {
  for (const MscclcKernel *kernel : loadLibrary(ON_DEVICE))
    if (kernel->name == std::string(name))
      return *kernel;
  throw std::runtime_error("no such kernel");
}

CommunicatorOptions onDevices(uint32_t ranks) {
  CommunicatorOptions options(ranks);
  options.platform = MSCCLC_PLATFORM_CUDA;
  options.wait_timeout_ms = 60000;
  return options;
}

/// Functions that bind, allocate or wait.
constexpr const char *heavy[] = {"cudaMalloc",
                                 "cudaFree",
                                 "cudaHostAlloc",
                                 "cudaFreeHost",
                                 "cudaMemcpyAsync",
                                 "cudaMemsetAsync",
                                 "cudaStreamSynchronize",
                                 "cudaEventSynchronize",
                                 "cudaGetDeviceProperties"};

/// A thousand launches, each at an offset of its own.
void launchAnywhere(Communicator &communicator, Instance &instance, Buffer &input, Buffer &output, uint64_t from) {
  for (uint64_t k = from; k < from + 1000; ++k) {
    Call call;
    call.on(input, output).of(64, MSCCLC_F32);
    call.input_offset = k * 16;
    call.output_offset = (k * 7 % 5000) * 16;
    instance.launch(call);
  }
  communicator.synchronize();
}

void checkThousand(const char *kernel) {
  Communicator communicator(onDevices(4));
  Buffer input = communicator.allocate(5000 * 16 + 64), output = communicator.allocate(5000 * 16 + 64);
  Instance instance = communicator.load(onDevice(kernel), 64);
  launchAnywhere(communicator, instance, input, output, 0);
  std::vector<uint64_t> before;
  for (const char *function : heavy)
    before.push_back(calls(function));
  const uint64_t all = calls(nullptr), launches = calls("cudaLaunchKernel");
  const auto memory = mallinfo2().uordblks;
  launchAnywhere(communicator, instance, input, output, 1000);
  const uint64_t each = (calls(nullptr) - all) / 1000;
  std::printf("%s on 4 devices: %llu calls a launch of all ranks\n", kernel, static_cast<unsigned long long>(each));
  CHECK(calls("cudaLaunchKernel") - launches == 4000);
  // The calls for a rank ask whether its stream is captured, set its device, launch the kernel, and record an event.
  if ((onDevice(kernel).flags & MSCCLC_NEEDS_PORT) == 0)
    CHECK(each <= 4 * 4 + 4);
  for (size_t i = 0; i < std::size(heavy); ++i) {
    const bool proxy = (onDevice(kernel).flags & MSCCLC_NEEDS_PORT) != 0 && i >= 4;
    INFO(heavy[i]);
    // The last functions are called for one wait of each rank. The proxy's copies are the messages themselves.
    CHECK((proxy || calls(heavy[i]) - before[i] <= (i < 7 ? 0 : 4)));
  }
  CHECK(mallinfo2().uordblks < memory + 64 * 1024);
}

} // namespace

TEST_CASE("Launches at new offsets allocate, copy and wait for nothing") {
  checkThousand("packets4");
}

TEST_CASE("The same with port channels, but for what the proxy copies") {
  checkThousand("ports4");
}

TEST_CASE("The proxy does not sleep while a launch runs, and asks for nothing when none does") {
  Communicator communicator(onDevices(4));
  Buffer input = communicator.allocate(4096), output = communicator.allocate(4096);
  Instance instance = communicator.load(onDevice("ports4"), 4096);
  const auto asked = [](std::chrono::milliseconds time) {
    const uint64_t before = calls("cudaEventQuery");
    std::this_thread::sleep_for(time);
    return calls("cudaEventQuery") - before;
  };
  std::atomic<bool> mayBegin{false};
  cudaLaunchHostFunc(
      static_cast<cudaStream_t>(mscclc_communicator_stream(communicator.get(), 0)),
      [](void *begin) {
        while (!*static_cast<std::atomic<bool> *>(begin))
          std::this_thread::yield();
      },
      &mayBegin);
  CHECK(asked(std::chrono::milliseconds(50)) == 0);
  instance.launch(Call().on(input, output).of(4096, MSCCLC_U8)); // rank 0 keeps it from ending
  CHECK(asked(std::chrono::milliseconds(500)) > 0);
  mayBegin = true;
  communicator.synchronize();
  std::this_thread::sleep_for(std::chrono::milliseconds(200)); // until it has asked again
  CHECK(asked(std::chrono::milliseconds(50)) == 0);
}

TEST_CASE("Launches of different instances on streams of their own follow each other, unless the caller says no") {
  for (const uint32_t unchained : {0u, 1u}) {
    CommunicatorOptions options = onDevices(4);
    options.unchained = unchained;
    Communicator communicator(options);
    Buffer buffer = communicator.allocate(4096), output = communicator.allocate(4096);
    Instance gather = communicator.load(onDevice("gather4"), 256),
             packets = communicator.load(onDevice("packets4"), 64);
    std::vector<cudaStream_t> streams(4);
    for (int rank = 0; rank < 4; ++rank) {
      cudaSetDevice(rank);
      cudaStreamCreateWithPriority(&streams[static_cast<size_t>(rank)], cudaStreamNonBlocking, 0);
    }
    std::vector<void *> handles(streams.begin(), streams.end());
    const uint64_t before = calls("cudaStreamWaitEvent");
    for (int round = 0; round < 10; ++round) {
      Call call;
      call.inPlace(buffer).of(256, MSCCLC_U8);
      call.streams = handles.data();
      gather.launch(call);
      packets.launch(Call().on(buffer, output).of(64, MSCCLC_F32));
    }
    communicator.synchronize();
    // Launches of one instance follow each other in any case; on streams of the caller's, by events.
    CHECK(calls("cudaStreamWaitEvent") - before == (unchained != 0 ? 9 * 4 : 19 * 4));
    for (const cudaStream_t stream : streams)
      cudaStreamDestroy(stream);
  }
}

TEST_CASE("Launches follow each other over all ranks of a shared device, whatever the caller says") {
  CommunicatorOptions options = onDevices(4);
  const int32_t devices[4] = {0, 0, 0, 0};
  options.devices = devices;
  options.unchained = 1;
  Communicator communicator(options);
  Buffer buffer = communicator.allocate(4096), output = communicator.allocate(4096);
  Instance gather = communicator.load(onDevice("gather4"), 256), packets = communicator.load(onDevice("packets4"), 64);
  const uint64_t before = calls("cudaStreamWaitEvent");
  for (int round = 0; round < 10; ++round) {
    gather.launch(Call().inPlace(buffer).of(256, MSCCLC_U8));
    packets.launch(Call().on(buffer, output).of(64, MSCCLC_F32));
  }
  communicator.synchronize();
  CHECK(calls("cudaStreamWaitEvent") - before == 19 * 4 * 3); // a rank's own stream keeps its order
  std::vector<void *> handles;
  for (uint32_t rank = 0; rank < 4; ++rank)
    handles.push_back(mscclc_communicator_stream(communicator.get(), rank));
  handles[2] = cudaStreamLegacy;
  Call call;
  call.inPlace(buffer).of(256, MSCCLC_U8);
  call.streams = handles.data();
  const std::string refused = failureOf([&] { gather.launch(call); }).text;
  CHECK(contains(refused, "the stream of rank 2 is the default one"));
}

TEST_CASE("A rank follows what was launched last on it, where other ranks were captured") {
  Communicator communicator(onDevices(4));
  Buffer buffer = communicator.allocate(4096), output = communicator.allocate(4096);
  Instance gather = communicator.load(onDevice("gather4"), 256), packets = communicator.load(onDevice("packets4"), 64);
  std::vector<void *> handles;
  for (uint32_t rank = 0; rank < 4; ++rank)
    handles.push_back(mscclc_communicator_stream(communicator.get(), rank));
  cudaStream_t captured = nullptr;
  cudaSetDevice(0);
  REQUIRE(cudaStreamCreateWithPriority(&captured, cudaStreamNonBlocking, 0) == cudaSuccess);
  handles[0] = captured;
  cudaStreamBeginCapture(captured, cudaStreamCaptureModeRelaxed);
  Call call;
  call.on(buffer, output).of(64, MSCCLC_F32);
  call.streams = handles.data();
  packets.launch(call); // on ranks 1 to 3 at once, on rank 0 by the graph
  cudaGraphExec_t const replay = endCaptures({captured}).at(0);
  cudaGraphLaunch(replay, captured);
  std::vector<cudaStream_t> streams(4);
  for (size_t rank = 0; rank < 4; ++rank) {
    cudaSetDevice(static_cast<int>(rank));
    cudaStreamCreateWithPriority(&streams[rank], cudaStreamNonBlocking, 0);
    handles[rank] = streams[rank];
  }
  const uint64_t before = calls("cudaStreamWaitEvent");
  call.inPlace(buffer).of(256, MSCCLC_U8);
  gather.launch(call);
  CHECK(calls("cudaStreamWaitEvent") - before == 3);
  communicator.synchronize();
  cudaStreamSynchronize(captured);
  cudaGraphExecDestroy(replay);
  cudaStreamDestroy(captured);
  for (const cudaStream_t stream : streams)
    cudaStreamDestroy(stream);
}

namespace {

/// Graphs of a launch, one for each rank on a stream of its own.
class Captured {
public:
  Captured(MscclcInstance *instance, Call call, uint32_t ranks) : streams_(ranks) {
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      cudaSetDevice(static_cast<int>(rank));
      REQUIRE(cudaStreamCreateWithPriority(&streams_[rank], cudaStreamNonBlocking, 0) == cudaSuccess);
    }
    std::vector<void *> handles(streams_.begin(), streams_.end());
    call.streams = handles.data();
    for (const cudaStream_t stream : streams_)
      cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    REQUIRE(mscclc_launch(instance, &call) == MSCCLC_OK);
    graphs_ = endCaptures(streams_);
    REQUIRE(!graphs_.empty());
  }
  ~Captured() {
    dropGraphs();
    for (const cudaStream_t stream : streams_)
      cudaStreamDestroy(stream);
  }
  void replay() {
    for (size_t rank = 0; rank < graphs_.size(); ++rank)
      cudaGraphLaunch(graphs_[rank], streams_[rank]);
  }
  void wait() {
    for (const cudaStream_t stream : streams_)
      cudaStreamSynchronize(stream);
  }
  cudaStream_t stream(uint32_t rank) const { return streams_[rank]; }
  void dropGraphs() {
    for (const cudaGraphExec_t graph : graphs_)
      cudaGraphExecDestroy(graph);
    graphs_.clear();
  }

private:
  std::vector<cudaStream_t> streams_;
  std::vector<cudaGraphExec_t> graphs_;
};

} // namespace

TEST_CASE("A launch at a new offset is captured, and its replays go there") {
  Communicator communicator(onDevices(4));
  Buffer buffer = communicator.allocate(4096);
  Instance instance = communicator.load(onDevice("gather4"), 256);
  Call call;
  call.inPlace(buffer).of(256, MSCCLC_U8);
  instance.launch(call);
  communicator.synchronize();
  const uint64_t allocations = calls("cudaMalloc");
  call.input_offset = call.output_offset = 1024;
  Captured graphs(instance.get(), call, 4);
  CHECK(calls("cudaMalloc") == allocations);
  for (uint64_t replay = 0; replay < 3; ++replay) {
    for (uint32_t rank = 0; rank < 4; ++rank)
      buffer.write(rank, dataOf(rank, 64, 0, replay), 1024 + rank * 64);
    graphs.replay();
    graphs.wait();
    for (uint32_t rank = 0; rank < 4; ++rank)
      for (uint32_t from = 0; from < 4; ++from)
        CHECK(buffer.read<unsigned char>(rank, 64, 1024 + from * 64) == dataOf(from, 64, 0, replay));
  }
}

TEST_CASE("What a graph has captured is refused to be freed until the graph is gone and its replays are over") {
  MscclcCommunicator *communicator = nullptr;
  const CommunicatorOptions options = onDevices(4);
  REQUIRE(mscclc_communicator_create(&options, &communicator) == MSCCLC_OK);
  MscclcBuffer *input = nullptr, *output = nullptr, *other = nullptr;
  for (MscclcBuffer **buffer : {&input, &output, &other})
    REQUIRE(mscclc_buffer_allocate(communicator, 4096, buffer) == MSCCLC_OK);
  MscclcInstance *instance = nullptr;
  REQUIRE(mscclc_instance_create(communicator, &onDevice("packets4"), 64, &instance) == MSCCLC_OK);
  Call call;
  call.of(64, MSCCLC_F32);
  call.input = input;
  call.output = output;
  std::atomic<bool> mayEnd{false};
  {
    Captured graphs(instance, call, 4);
    CHECK(mscclc_buffer_release(input) == MSCCLC_ERROR_IN_GRAPH);
    CHECK(std::string(mscclc_last_error()) ==
          "release a buffer: a graph has captured launches of it; destroy the graph before");
    CHECK(mscclc_buffer_release(output) == MSCCLC_ERROR_IN_GRAPH);
    CHECK(mscclc_instance_destroy(instance) == MSCCLC_ERROR_IN_GRAPH);
    CHECK(mscclc_communicator_destroy(communicator) == MSCCLC_ERROR_IN_GRAPH);
    CHECK(mscclc_buffer_release(other) == MSCCLC_OK); // which no graph uses
    // Everything still works. A running replay keeps it beyond the end of its graph.
    cudaLaunchHostFunc(
        graphs.stream(0),
        [](void *end) {
          while (!*static_cast<std::atomic<bool> *>(end))
            std::this_thread::yield();
        },
        &mayEnd);
    graphs.replay();
    graphs.dropGraphs();
    CHECK(mscclc_instance_destroy(instance) == MSCCLC_ERROR_IN_GRAPH);
    mayEnd = true;
    CHECK(mscclc_instance_destroy(instance) == MSCCLC_OK);
    CHECK(mscclc_buffer_release(input) == MSCCLC_OK);
  }
  CHECK(mscclc_communicator_destroy(communicator) == MSCCLC_OK);
}
