// The runtime's functions: devices, streams, events, memory and its sharing between processes.
#include "fake.h"
#include "streams.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <map>
#include <memory>
#include <string>

namespace cuda_fake {

std::mutex mutex;

namespace {

thread_local int device = -1;

std::mutex countsMutex;
std::map<std::string, uint64_t> counts; ///< calls, by function

struct Event {
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t recorded = 0, reached = 0;
};

struct AtExit {
  ~AtExit() {
    reportAllocations();
    reportDriverLeftovers();
  }
} atExit;

using Guard = std::lock_guard<std::mutex>;

int deviceCount() {
  const char *const text = std::getenv("CUDA_FAKE_DEVICES");
  return text == nullptr ? 1 : std::atoi(text);
}
Event &eventOf(cudaEvent_t event) {
  return *reinterpret_cast<Event *>(event);
}

std::atomic<unsigned long long> lastCapture{0};
std::atomic<int> captures{0};     ///< of the global mode
thread_local int ownCaptures = 0; ///< of the mode of this thread alone
thread_local cudaStreamCaptureMode captureMode = cudaStreamCaptureModeGlobal;

Graph *graphOf(void *graph) {
  return static_cast<Graph *>(graph);
}
std::shared_ptr<UserObject> *objectOf(cudaUserObject_t object) {
  return reinterpret_cast<std::shared_ptr<UserObject> *>(object);
}
void countCapture(cudaStreamCaptureMode mode, int change) {
  if (mode == cudaStreamCaptureModeGlobal)
    captures += change;
  else if (mode == cudaStreamCaptureModeThreadLocal)
    ownCaptures += change;
}
uint64_t lastRecord(Event &event) {
  const Guard guard(event.mutex);
  return event.recorded;
}
void await(Event &event, uint64_t record) {
  std::unique_lock<std::mutex> lock(event.mutex);
  event.changed.wait(lock, [&] { return event.reached >= record; });
}

} // namespace

void counted(const char *function) {
  const Guard guard(countsMutex);
  ++counts[function];
}
void wrong(const char *what) {
  std::fprintf(stderr, "cuda fake: %s\n", what);
  std::abort();
}
int currentDevice() {
  return device;
}
void needDevice(const char *what) {
  if (device < 0)
    wrong(what);
}
void needNoCapture(const char *what) {
  if ((captures != 0 || ownCaptures != 0) && captureMode != cudaStreamCaptureModeRelaxed)
    wrong(what);
}
} // namespace cuda_fake

using namespace cuda_fake;

extern "C" {

cudaError_t cudaGetDeviceCount(int *count) {
  counted(__func__);
  *count = deviceCount();
  const char *const fails = std::getenv("CUDA_FAKE_FAILS");
  return fails != nullptr && std::string(fails) == __func__ ? cudaErrorInsufficientDriver : cudaSuccess;
}
cudaError_t cudaSetDevice(int wanted) {
  counted(__func__);
  if (wanted < 0 || wanted >= deviceCount())
    return cudaErrorInvalidDevice;
  device = wanted;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int *current) {
  counted(__func__);
  *current = device < 0 ? 0 : device;
  return cudaSuccess;
}
cudaError_t cudaGetLastError() {
  counted(__func__);
  return cudaSuccess;
}
const char *cudaGetErrorString(cudaError_t) {
  counted(__func__);
  return "an error of the fake";
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int of) {
  counted(__func__);
  std::memset(properties, 0, sizeof(*properties));
  std::strcpy(properties->name, "fake");
  properties->uuid.bytes[0] = static_cast<char>(of + 1);
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int) {
  counted(__func__);
  *value = attribute == cudaDevAttrPageableMemoryAccess ? 0 : 132;
  return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int *can, int, int) {
  counted(__func__);
  *can = 1;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
  counted(__func__);
  return peer == device ? cudaErrorInvalidDevice : cudaSuccess;
}
cudaError_t cudaDeviceGetP2PAttribute(int *value, cudaDeviceP2PAttr, int device, int peer) {
  counted(__func__);
  *value = std::getenv("CUDA_FAKE_NO_ATOMICS") == nullptr ? 1 : 0;
  return device == peer ? cudaErrorInvalidDevice : cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  counted(__func__);
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}
#if CUDART_VERSION >= 12050
cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult *result) {
  counted(__func__);
#else
cudaError_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long,
                                    cudaDriverEntryPointQueryResult *result) {
  counted(__func__);
#endif
  *function = findDriverFunction(name);
  if (*function == nullptr)
    wrong(name);
  *result = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int) {
  counted(__func__);
  needDevice("a stream without a device");
  *stream = newStream(device, flags);
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  counted(__func__);
  endStream(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  counted(__func__);
  return streamOf(stream).progress->isDone() ? cudaSuccess : cudaErrorNotReady;
}
#if CUDART_VERSION >= 13000
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus *status, unsigned long long *id,
                                     cudaGraph_t *graph, const cudaGraphNode_t **, const cudaGraphEdgeData **,
                                     size_t *) {
#else
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus *status, unsigned long long *id,
                                     cudaGraph_t *graph, const cudaGraphNode_t **, size_t *) {
#endif
  counted(__func__);
  const unsigned long long capture = streamOf(stream).capture.load();
  *status = capture != 0 ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  if (id != nullptr)
    *id = capture;
  if (graph != nullptr && capture != 0)
    *graph = reinterpret_cast<cudaGraph_t>(streamOf(stream).captured.get());
  return cudaSuccess;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *user) {
  counted(__func__);
  enqueue(stream, [function, user] { function(user); });
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status) {
  counted(__func__);
  *status = streamOf(stream).capture != 0 ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  counted(__func__);
  streamOf(stream).captured = std::make_unique<Graph>();
  streamOf(stream).capture = ++lastCapture;
  streamOf(stream).mode = mode;
  countCapture(mode, 1);
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
  counted(__func__);
  if (streamOf(stream).capture == 0)
    return cudaErrorIllegalState;
  streamOf(stream).capture = 0;
  countCapture(streamOf(stream).mode, -1);
  *graph = reinterpret_cast<cudaGraph_t>(streamOf(stream).captured.release());
  return cudaSuccess;
}
cudaError_t cudaUserObjectCreate(cudaUserObject_t *object, void *of, cudaHostFn_t end, unsigned references,
                                 unsigned flags) {
  counted(__func__);
  if (references != 1 || flags != cudaUserObjectNoDestructorSync)
    wrong("a user object with other references or flags than CUDA takes");
  *object = reinterpret_cast<cudaUserObject_t>(new std::shared_ptr<UserObject>(std::make_shared<UserObject>(of, end)));
  return cudaSuccess;
}
cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned) {
  counted(__func__);
  delete objectOf(object);
  return cudaSuccess;
}
cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned, unsigned flags) {
  counted(__func__);
  graphOf(graph)->objects.push_back(*objectOf(object));
  if (flags == cudaGraphUserObjectMove)
    delete objectOf(object);
  return cudaSuccess;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode) {
  counted(__func__);
  std::swap(*mode, captureMode);
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph, unsigned long long) {
  counted(__func__);
  needNoCapture("a graph is made executable while a stream is captured");
  *executable = reinterpret_cast<cudaGraphExec_t>(new Graph(*graphOf(graph)));
  return cudaSuccess;
}
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) {
  counted(__func__);
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  counted(__func__);
  needDevice("a graph without a device");
  for (const auto &work : graphOf(executable)->works)
    enqueue(stream, work);
  enqueue(stream, [objects = graphOf(executable)->objects] {}); // a running replay holds them, too
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  counted(__func__);
  delete graphOf(executable);
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  counted(__func__);
  delete graphOf(graph);
  return cudaSuccess;
}
uint64_t cudaFakeCalls(const char *function) {
  const Guard guard(countsMutex);
  uint64_t all = 0;
  for (const auto &[name, calls] : counts)
    all += function == nullptr || name == function ? calls : 0;
  return all;
}
void cudaFakeLaunch(void *stream, std::function<void()> work, const char *function) {
  counted(function);
  needDevice("a kernel without a device");
  enqueue(static_cast<cudaStream_t>(stream), std::move(work));
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
  counted(__func__);
  needDevice("an event without a device");
  *event = reinterpret_cast<cudaEvent_t>(new Event);
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t *event) {
  counted(__func__);
  return cudaEventCreateWithFlags(event, 0);
}
cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t stream) {
  counted(__func__);
  if (streamOf(stream).capture != 0)
    wrong("an event that no replay of the graph reaches");
  Event &event = eventOf(handle);
  uint64_t record = 0;
  {
    const Guard guard(event.mutex);
    record = ++event.recorded;
  }
  enqueue(stream, [&event, record] {
    const Guard guard(event.mutex);
    event.reached = record;
    event.changed.notify_all();
  });
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  counted(__func__);
  needNoCapture("waited for an event while a stream is captured");
  await(eventOf(event), lastRecord(eventOf(event)));
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t handle) {
  counted(__func__);
  Event &event = eventOf(handle);
  const Guard guard(event.mutex);
  return event.reached >= event.recorded ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  counted(__func__);
  cudaEventSynchronize(event);
  delete &eventOf(event);
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t, cudaEvent_t) {
  counted(__func__);
  *milliseconds = 1;
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t handle, unsigned) {
  counted(__func__);
  Event &event = eventOf(handle);
  enqueue(stream, [&event, record = lastRecord(event)] { await(event, record); });
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  counted(__func__);
  needNoCapture("waited for a stream while one is captured");
  const std::shared_ptr<Progress> progress = streamOf(stream).progress;
  progress->await(enqueue(stream, [] {}));
  return cudaSuccess;
}

/// Waits for the streams of the calling thread's device.
cudaError_t cudaDeviceSynchronize() {
  needNoCapture("waited for a device while a stream is captured");
  for (Stream *stream : streamsOf(device))
    cudaStreamSynchronize(reinterpret_cast<cudaStream_t>(stream));
  cudaStreamSynchronize(nullptr);
  return cudaSuccess;
}
cudaError_t cudaDeviceReset() {
  return cudaDeviceSynchronize();
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  counted(__func__);
  enqueue(stream, [=] {
    // Words that kernels poll must be written at once.
    if (bytes == sizeof(uint64_t) && reinterpret_cast<uintptr_t>(to) % sizeof(uint64_t) == 0)
      __atomic_store_n(static_cast<uint64_t *>(to), *static_cast<const uint64_t *>(from), __ATOMIC_RELEASE);
    else
      std::memcpy(to, from, bytes);
  });
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind) {
  needNoCapture("copied while a stream is captured");
  enqueue(nullptr, [=] { std::memcpy(to, from, bytes); });
  return cudaStreamSynchronize(nullptr);
}
/// Runs on the default stream. CUDA does not have to wait for it, but here tests read the memory on the host.
cudaError_t cudaMemset(void *memory, int value, size_t bytes) {
  needNoCapture("wrote while a stream is captured");
  enqueue(nullptr, [=] { std::memset(memory, value, bytes); });
  return cudaStreamSynchronize(nullptr);
}
cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream) {
  counted(__func__);
  enqueue(stream, [=] { std::memset(memory, value, bytes); });
  return cudaSuccess;
}
}
