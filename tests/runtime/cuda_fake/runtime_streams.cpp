#include "streams.h"

#include <map>
#include <set>

namespace cuda_fake {
namespace {

using Guard = std::lock_guard<std::mutex>;

std::set<Stream *> streams; ///< without default streams

/// Created at its first use. Kept until the process ends, because its thread may run until then.
Stream &defaultStream(int device) {
  static auto *const all = new std::map<int, Stream *>;
  const Guard guard(mutex);
  Stream *&stream = (*all)[device];
  if (stream == nullptr)
    stream = new Stream(device, false);
  return *stream;
}

bool isDefault(const Stream &stream) {
  return &stream == &defaultStream(stream.device);
}

int deviceOfThread() {
  return currentDevice() < 0 ? 0 : currentDevice();
}

/// The streams of a thread, one for each device.
struct OwnStreams {
  std::map<int, cudaStream_t> byDevice;
  ~OwnStreams() {
    for (const auto &[device, stream] : byDevice)
      endStream(stream);
  }
};

Stream &streamOfThread() {
  thread_local OwnStreams own;
  cudaStream_t &stream = own.byDevice[deviceOfThread()];
  if (stream == nullptr)
    stream = newStream(deviceOfThread(), cudaStreamDefault);
  return *reinterpret_cast<Stream *>(stream);
}

using Before = std::vector<std::pair<std::shared_ptr<Progress>, uint64_t>>;

/// Returns the work in other streams that must end before the next work of `stream`.
Before workBefore(Stream &stream) {
  Before before;
  if (stream.isBlocking) {
    Progress &progress = *defaultStream(stream.device).progress;
    before.emplace_back(defaultStream(stream.device).progress, progress.begun());
  } else if (isDefault(stream)) {
    for (Stream *other : streamsOf(stream.device)) {
      if (!other->isBlocking)
        continue;
      if (other->capture != 0)
        wrong("the default stream is used while a stream that it waits for is captured");
      before.emplace_back(other->progress, other->progress->begun());
    }
  }
  return before;
}

} // namespace

uint64_t Progress::begin() {
  const Guard guard(mutex_);
  return ++begun_;
}
void Progress::end() {
  const Guard guard(mutex_);
  ++done_;
  changed_.notify_all();
}
uint64_t Progress::begun() {
  const Guard guard(mutex_);
  return begun_;
}
bool Progress::isDone() {
  const Guard guard(mutex_);
  return done_ == begun_;
}
void Progress::await(uint64_t work) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return done_ >= work; });
}

Stream &streamOf(cudaStream_t stream) {
  if (stream == nullptr || stream == cudaStreamLegacy)
    return defaultStream(deviceOfThread());
  return stream == cudaStreamPerThread ? streamOfThread() : *reinterpret_cast<Stream *>(stream);
}

cudaStream_t newStream(int device, unsigned flags) {
  auto *const made = new Stream(device, (flags & cudaStreamNonBlocking) == 0);
  const Guard guard(mutex);
  streams.insert(made);
  return reinterpret_cast<cudaStream_t>(made);
}

void endStream(cudaStream_t handle) {
  auto *const stream = reinterpret_cast<Stream *>(handle);
  {
    const Guard guard(mutex);
    streams.erase(stream);
  }
  delete stream;
}

std::vector<Stream *> streamsOf(int device) {
  std::vector<Stream *> own;
  const Guard guard(mutex);
  for (Stream *stream : streams)
    if (stream->device == device)
      own.push_back(stream);
  return own;
}

uint64_t enqueue(cudaStream_t handle, std::function<void()> work) {
  Stream &stream = streamOf(handle);
  if (stream.capture != 0) {
    stream.captured->works.push_back(std::move(work));
    return 0;
  }
  const Guard guard(stream.adding);
  const Before before = workBefore(stream);
  const uint64_t number = stream.progress->begin();
  stream.queue.launch(1, 1, [before, progress = stream.progress, work = std::move(work)] {
    for (const auto &[other, most] : before)
      other->await(most);
    work();
    progress->end();
  });
  return number;
}

} // namespace cuda_fake
