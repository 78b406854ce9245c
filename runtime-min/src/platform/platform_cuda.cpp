// The platform for CUDA devices. Plain memory is shared between processes by CUDA IPC. Memory for multicast objects is
// made and shared by the driver's virtual memory functions (cuda_memory.h).
#include "platform/cuda_adopted.h"
#include "platform/cuda_driver.h"
#include "platform/cuda_memory.h"
#include "platform/platform.h"

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>

namespace mscclc::rt {
namespace {

enum HandleKind : uint32_t { IpcHandle = 1, FileHandle = 2 };

static_assert(sizeof(cudaIpcMemHandle_t) <= sizeof(ShareHandle::data), "a handle fits");

/// Lets this thread allocate and synchronise while any stream is being captured.
class OutsideCapture {
public:
  OutsideCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~OutsideCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  OutsideCapture(const OutsideCapture &) = delete;
  OutsideCapture &operator=(const OutsideCapture &) = delete;

private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

cudaStream_t cudaStream(Stream stream) {
  return static_cast<cudaStream_t>(stream);
}
cudaEvent_t cudaEvent(Event event) {
  return static_cast<cudaEvent_t>(event);
}

class CudaPlatform final : public Platform {
public:
  CudaPlatform() : memory_(driver_) { driver_.load(); }
  ~CudaPlatform() override {
    const DeviceGuard guard(*this);
    for (size_t device = 0; device < copyStreams_.size(); ++device)
      if (copyStreams_[device] != nullptr)
        destroyStream(static_cast<int32_t>(device), copyStreams_[device]);
  }

  uint32_t kind() const override { return MSCCLC_PLATFORM_CUDA; }
  Status deviceCount(int32_t &count) override { return MSCCLC_CHECK(cudaGetDeviceCount(&count)); }
  Status examine(int32_t device, DeviceFacts &facts) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto known = facts_.find(device);
    if (known == facts_.end()) {
      cudaDeviceProp properties;
      MSCCLC_CUDA(cudaGetDeviceProperties(&properties, device));
      static_assert(sizeof(properties.uuid) == sizeof(DeviceId), "an id is a uuid");
      std::memcpy(facts.id.data(), &properties.uuid, facts.id.size());
      int processors = 0;
      MSCCLC_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
      facts.processors = static_cast<uint32_t>(processors);
      facts.hasMulticast = memory_.has(device) ? 1 : 0;
      facts_[device] = facts;
    } else {
      facts = known->second;
    }
    return {};
  }
  Status connect(int32_t device, int32_t peer, bool &reaches) override {
    reaches = true;
    if (device == peer)
      return {};
    int can = 0;
    MSCCLC_CUDA(cudaDeviceCanAccessPeer(&can, device, peer));
    reaches = can != 0;
    if (!reaches)
      return {};
    MSCCLC_TRY(use(device));
    const cudaError_t result = cudaDeviceEnablePeerAccess(peer, 0);
    if (result == cudaErrorPeerAccessAlreadyEnabled) {
      cudaGetLastError();
      return {};
    }
    return checkCuda(result, "cudaDeviceEnablePeerAccess");
  }
  Status addsTo(int32_t device, const DeviceId &peer, RemoteAdd &adds) override {
    int32_t count = 0;
    adds = RemoteAdd::Unknown;
    MSCCLC_TRY(deviceCount(count));
    for (int32_t other = 0; other < count; ++other) {
      DeviceFacts facts;
      MSCCLC_TRY(examine(other, facts));
      if (facts.id != peer)
        continue;
      int atomics = 1;
      if (other != device)
        MSCCLC_CUDA(cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, device, other));
      adds = atomics != 0 ? RemoteAdd::Whole : RemoteAdd::Broken;
    }
    return {};
  }
  Status use(int32_t device) override { return MSCCLC_CHECK(cudaSetDevice(device)); }
  int32_t current() override {
    // A thread without a device must not get the first device: it would take memory of that device, and may never need
    // it.
    CUcontext context = nullptr;
    if (driver_.cuCtxGetCurrent == nullptr || driver_.cuCtxGetCurrent(&context) != CUDA_SUCCESS || context == nullptr)
      return -1;
    int device = -1;
    return cudaGetDevice(&device) == cudaSuccess ? device : -1;
  }

  Status allocate(int32_t device, uint64_t bytes, MemoryKind kind, const std::vector<int32_t> &reachableFrom,
                  void *&memory) override {
    const OutsideCapture outside;
    MSCCLC_TRY(use(device));
    if (kind == MemoryKind::Multicast)
      MSCCLC_TRY(memory_.allocate(device, bytes, reachableFrom, memory));
    else
      MSCCLC_CUDA(cudaMalloc(&memory, bytes));
    return clear(device, memory, bytes);
  }
  void release(int32_t device, void *memory) override {
    const OutsideCapture outside;
    if (!use(device).ok() || memory_.release(memory))
      return;
    cudaFree(memory);
  }
  Status allocatePinned(uint64_t bytes, void *&memory) override {
    const OutsideCapture outside;
    MSCCLC_CUDA(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable | cudaHostAllocMapped));
    std::memset(memory, 0, bytes);
    return {};
  }
  void releasePinned(void *memory) override {
    const OutsideCapture outside;
    cudaFreeHost(memory);
  }

  Status adopt(int32_t device, void *memory, uint64_t bytes, const std::vector<int32_t> &from) override {
    const OutsideCapture outside;
    MSCCLC_TRY(use(device));
    return checkAdopted(driver_, device, memory, bytes, from);
  }
  Status share(int32_t device, void *memory, uint64_t bytes, ShareHandle &handle, int &file) override {
    MSCCLC_TRY(use(device));
    handle = {};
    file = -1;
    if (driver_.cuMemGetAddressRange == nullptr)
      return failure(MSCCLC_ERROR_UNSUPPORTED, "the driver lacks cuMemGetAddressRange");
    // The handle refers to the allocation, which may begin before the memory.
    CUdeviceptr base = 0;
    size_t size = 0;
    const auto at = reinterpret_cast<CUdeviceptr>(memory);
    MSCCLC_TRY(MSCCLC_DRIVER(cuMemGetAddressRange, &base, &size, at));
    handle.kind = IpcHandle;
    handle.offset = at - base;
    handle.bytes = size;
    if (handle.offset + bytes > size)
      return failure(MSCCLC_ERROR_ARGUMENT, "a buffer of %llu bytes runs past its allocation, which ends %llu bytes on",
                     wide(bytes), wide(size - handle.offset));
    if (isMapped(driver_, memory)) {
      handle.kind = FileHandle;
      handle.hasFile = 1;
      return memory_.share(reinterpret_cast<void *>(base), file);
    }
    cudaIpcMemHandle_t ipc;
    if (Status status = checkCuda(cudaIpcGetMemHandle(&ipc, reinterpret_cast<void *>(base)), "cudaIpcGetMemHandle");
        !status.ok())
      return failure(MSCCLC_ERROR_UNSUPPORTED,
                     "memory that other processes are to reach must come from cudaMalloc, ncclMemAlloc or "
                     "mscclc_buffer_allocate (%s)",
                     status.text.c_str());
    std::memcpy(handle.data.data(), &ipc, sizeof(ipc));
    return {};
  }
  Status open(int32_t device, const ShareHandle &handle, int file, void *&memory) override {
    MSCCLC_TRY(use(device));
    if (handle.kind == FileHandle) {
      MSCCLC_TRY(memory_.openShared(device, file, handle.bytes, memory));
    } else {
      cudaIpcMemHandle_t ipc;
      std::memcpy(&ipc, handle.data.data(), sizeof(ipc));
      MSCCLC_CUDA(cudaIpcOpenMemHandle(&memory, ipc, cudaIpcMemLazyEnablePeerAccess));
    }
    memory = static_cast<char *>(memory) + handle.offset;
    return {};
  }
  void close(int32_t device, const ShareHandle &handle, void *memory) override {
    if (!use(device).ok())
      return;
    void *const begin = static_cast<char *>(memory) - handle.offset;
    if (handle.kind == FileHandle)
      memory_.release(begin);
    else
      cudaIpcCloseMemHandle(begin);
  }

  Status createStream(int32_t device, bool urgent, Stream &stream) override {
    const OutsideCapture outside;
    MSCCLC_TRY(use(device));
    // An urgent stream has a separate hardware queue. So a copy for which a kernel waits is not queued behind the next
    // kernel.
    int least = 0, greatest = 0;
    MSCCLC_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    cudaStream_t made = nullptr;
    MSCCLC_CUDA(cudaStreamCreateWithPriority(&made, cudaStreamNonBlocking, urgent ? greatest : least));
    stream = made;
    return {};
  }
  void destroyStream(int32_t device, Stream stream) override {
    if (use(device).ok())
      cudaStreamDestroy(cudaStream(stream));
  }
  Status synchronize(int32_t device, Stream stream) override {
    const OutsideCapture outside;
    MSCCLC_TRY(use(device));
    return MSCCLC_CHECK(cudaStreamSynchronize(cudaStream(stream)));
  }
  bool capturing(int32_t device, Stream stream) override {
    if (!useFor(stream, device).ok())
      return false;
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    return cudaStreamIsCapturing(cudaStream(stream), &status) == cudaSuccess && status != cudaStreamCaptureStatusNone;
  }
  Status keepInGraph(int32_t device, Stream stream, std::vector<std::shared_ptr<const void>> objects) override {
    MSCCLC_TRY(useFor(stream, device));
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cudaGraph_t graph = nullptr;
#if CUDART_VERSION >= 13000
    MSCCLC_CUDA(cudaStreamGetCaptureInfo(cudaStream(stream), &status, nullptr, &graph, nullptr, nullptr, nullptr));
#else
    MSCCLC_CUDA(cudaStreamGetCaptureInfo(cudaStream(stream), &status, nullptr, &graph, nullptr, nullptr));
#endif
    auto kept = std::make_unique<std::vector<std::shared_ptr<const void>>>(std::move(objects));
    const auto drop = [](void *vector) { delete static_cast<std::vector<std::shared_ptr<const void>> *>(vector); };
    cudaUserObject_t object = nullptr;
    MSCCLC_CUDA(cudaUserObjectCreate(&object, kept.get(), drop, 1, cudaUserObjectNoDestructorSync));
    kept.release();
    // The graph takes over the only reference.
    const cudaError_t result = cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove);
    if (result != cudaSuccess)
      cudaUserObjectRelease(object, 1);
    return checkCuda(result, "cudaGraphRetainUserObject");
  }
  bool isDefault(Stream stream) override { return stream == nullptr || stream == cudaStreamLegacy; }
  Status createEvent(int32_t device, Event &event) override {
    MSCCLC_TRY(use(device));
    cudaEvent_t made = nullptr;
    MSCCLC_CUDA(cudaEventCreateWithFlags(&made, cudaEventDisableTiming));
    event = made;
    return {};
  }
  void destroyEvent(int32_t device, Event event) override {
    if (use(device).ok())
      cudaEventDestroy(cudaEvent(event));
  }
  Status record(int32_t device, Event event, Stream stream) override {
    MSCCLC_TRY(useFor(stream, device));
    return MSCCLC_CHECK(cudaEventRecord(cudaEvent(event), cudaStream(stream)));
  }
  Status follow(int32_t device, Stream stream, Event event) override {
    MSCCLC_TRY(useFor(stream, device));
    return MSCCLC_CHECK(cudaStreamWaitEvent(cudaStream(stream), cudaEvent(event), 0));
  }
  bool tellsOfEvents() const override { return true; }
  bool isPending(int32_t device, Event event) override {
    const OutsideCapture outside;
    return use(device).ok() && cudaEventQuery(cudaEvent(event)) == cudaErrorNotReady;
  }
  Status await(int32_t device, Event event) override {
    const OutsideCapture outside;
    MSCCLC_TRY(use(device));
    return MSCCLC_CHECK(cudaEventSynchronize(cudaEvent(event)));
  }

  Status copy(int32_t device, void *to, const void *from, uint64_t bytes) override {
    const OutsideCapture outside;
    Stream stream = nullptr;
    MSCCLC_TRY(copyStream(device, stream));
    MSCCLC_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, cudaStream(stream)));
    return MSCCLC_CHECK(cudaStreamSynchronize(cudaStream(stream)));
  }
  Status clear(int32_t device, void *memory, uint64_t bytes) override {
    const OutsideCapture outside;
    Stream stream = nullptr;
    MSCCLC_TRY(copyStream(device, stream));
    MSCCLC_CUDA(cudaMemsetAsync(memory, 0, bytes, cudaStream(stream)));
    return MSCCLC_CHECK(cudaStreamSynchronize(cudaStream(stream)));
  }
  Status copyInOrder(int32_t device, void *to, const void *from, uint64_t bytes, Stream stream) override {
    MSCCLC_TRY(use(device));
    return MSCCLC_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, cudaStream(stream)));
  }
  Status storeInOrder(int32_t device, uint64_t *to, const uint64_t *from, Stream stream) override {
    return copyInOrder(device, to, from, sizeof(*to), stream);
  }

  Multicasts *multicasts() override { return &memory_; }

private:
  /// A stream determines its device. But the default streams have handles that refer to the calling thread's current
  /// device.
  Status useFor(Stream stream, int32_t device) {
    const bool isAnyDevices = stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
    return isAnyDevices ? use(device) : Status{};
  }
  /// Returns the platform's own stream of a device.
  Status copyStream(int32_t device, Stream &stream) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (copyStreams_.size() <= static_cast<size_t>(device))
      copyStreams_.resize(static_cast<size_t>(device) + 1, nullptr);
    Stream &own = copyStreams_[static_cast<size_t>(device)];
    if (own == nullptr)
      MSCCLC_TRY(createStream(device, true, own));
    stream = own;
    return use(device);
  }

  CudaDriver driver_;
  CudaMemory memory_;
  std::mutex mutex_;
  std::vector<Stream> copyStreams_;      ///< by device
  std::map<int32_t, DeviceFacts> facts_; ///< by device; filled when a device is first examined
};

} // namespace

Status createCudaPlatform(std::unique_ptr<Platform> &platform) {
  int count = 0;
  if (Status status = checkCuda(cudaGetDeviceCount(&count), "cudaGetDeviceCount"); !status.ok() || count == 0)
    return failure(MSCCLC_ERROR_UNSUPPORTED, "no CUDA device here%s%s", status.ok() ? "" : ": ", status.text.c_str());
  platform = std::make_unique<CudaPlatform>();
  return {};
}

} // namespace mscclc::rt
