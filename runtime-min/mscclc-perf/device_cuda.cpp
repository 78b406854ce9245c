#include "device.h"

#include <algorithm>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

namespace mscclc::perf {
namespace {

void checkCuda(cudaError_t result, const char *what) {
  if (result != cudaSuccess)
    throw runtime::Error(MSCCLC_ERROR_DEVICE + static_cast<int>(result),
                         std::string(what) + ": " + cudaGetErrorString(result));
}
#define CHECK_CUDA(call) checkCuda(call, #call)

/// A graph for the stream of each local rank.
class CudaGraphs final : public Graphs {
public:
  CudaGraphs(const runtime::Communicator &communicator, const std::function<void()> &launches) {
    if (communicator.isOnHost())
      throw runtime::Error(MSCCLC_ERROR_UNSUPPORTED, "the host has no graphs");
    for (uint32_t i = 0; i < communicator.localRanks(); ++i)
      parts_.push_back({mscclc_communicator_device(communicator.get(), i),
                        static_cast<cudaStream_t>(
                            mscclc_communicator_stream(communicator.get(), communicator.firstLocalRank() + i))});
    for (const Part &part : parts_)
      CHECK_CUDA(cudaStreamBeginCapture(part.stream, cudaStreamCaptureModeThreadLocal));
    launches();
    for (Part &part : parts_)
      CHECK_CUDA(cudaStreamEndCapture(part.stream, &part.graph));
    // CUDA instantiates no graph while this thread captures another one.
    for (Part &part : parts_) {
      CHECK_CUDA(cudaSetDevice(part.device));
      CHECK_CUDA(cudaGraphInstantiate(&part.executable, part.graph, 0));
      CHECK_CUDA(cudaGraphUpload(part.executable, part.stream));
    }
    for (const Part &part : parts_)
      CHECK_CUDA(cudaStreamSynchronize(part.stream));
  }
  ~CudaGraphs() override {
    for (const Part &part : parts_) {
      cudaStreamSynchronize(part.stream);
      if (part.executable != nullptr)
        cudaGraphExecDestroy(part.executable);
      if (part.graph != nullptr)
        cudaGraphDestroy(part.graph);
    }
  }
  void replay() override {
    for (const Part &part : parts_) {
      CHECK_CUDA(cudaSetDevice(part.device));
      CHECK_CUDA(cudaGraphLaunch(part.executable, part.stream));
    }
    for (const Part &part : parts_)
      CHECK_CUDA(cudaStreamSynchronize(part.stream));
  }

private:
  struct Part {
    int device;
    cudaStream_t stream;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    Part(int d, cudaStream_t s) : device(d), stream(s) {}
  };
  std::vector<Part> parts_;
};

} // namespace

std::unique_ptr<Graphs> capture(const runtime::Communicator &communicator, const std::function<void()> &launches) {
  return std::make_unique<CudaGraphs>(communicator, launches);
}

double copyBandwidth(int device, uint64_t bytes) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || device >= count)
    return 0;
  CHECK_CUDA(cudaSetDevice(device));
  void *from = nullptr, *to = nullptr;
  cudaEvent_t begin = nullptr, end = nullptr;
  CHECK_CUDA(cudaMalloc(&from, bytes));
  CHECK_CUDA(cudaMalloc(&to, bytes));
  CHECK_CUDA(cudaEventCreate(&begin));
  CHECK_CUDA(cudaEventCreate(&end));
  std::vector<float> times;
  for (int i = 0; i < 12; ++i) {
    CHECK_CUDA(cudaEventRecord(begin));
    CHECK_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice));
    CHECK_CUDA(cudaEventRecord(end));
    CHECK_CUDA(cudaEventSynchronize(end));
    float milliseconds = 0;
    CHECK_CUDA(cudaEventElapsedTime(&milliseconds, begin, end));
    if (i >= 3)
      times.push_back(milliseconds);
  }
  std::sort(times.begin(), times.end());
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  cudaFree(from);
  cudaFree(to);
  return static_cast<double>(bytes) / (times[times.size() / 2] * 1e-3);
}

uint32_t deviceCount() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0 ? static_cast<uint32_t>(count) : 0;
}

uint32_t multiprocessors(int device) {
  int count = 0;
  const cudaError_t result = cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
  return result == cudaSuccess && count > 0 ? static_cast<uint32_t>(count) : 0;
}

void useDevice(int device) {
  CHECK_CUDA(cudaSetDevice(device));
}

std::string deviceName(int device) {
  cudaDeviceProp properties;
  return cudaGetDeviceProperties(&properties, device) == cudaSuccess ? properties.name : "no device";
}

/// Ranks on one device wait for each other. So no launch may be queued behind another rank's launch, and no kernel may
/// be loaded while other kernels run.
void prepareProcess() {
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);
}

} // namespace mscclc::perf
