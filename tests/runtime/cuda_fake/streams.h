// Streams of the fake: queues of the CPU stand-in, and the default stream of each device.
#pragma once

#include "fake.h"

#include "mscclc/cpu_standin.h"

#include <atomic>
#include <condition_variable>
#include <cuda_runtime.h>
#include <memory>
#include <vector>

namespace cuda_fake {

/// Calls back when the last reference to it ends.
struct UserObject {
  void *of;
  cudaHostFn_t end;
  UserObject(void *object, cudaHostFn_t callback) : of(object), end(callback) {}
  ~UserObject() { end(of); }
  UserObject(const UserObject &) = delete;
  UserObject &operator=(const UserObject &) = delete;
};

/// A graph, or one that can be launched.
struct Graph {
  std::vector<std::function<void()>> works;
  std::vector<std::shared_ptr<UserObject>> objects;
};

/// How much work a stream was given, and how much of it is done.
class Progress {
public:
  uint64_t begin(); ///< its number
  void end();
  uint64_t begun();
  bool isDone();
  void await(uint64_t work);

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t begun_ = 0, done_ = 0;
};

struct Stream {
  Stream(int of, bool blocks) : device(of), isBlocking(blocks) {}

  const int device;
  const bool isBlocking; ///< it and the default stream of its device wait for each other
  const std::shared_ptr<Progress> progress = std::make_shared<Progress>();
  std::atomic<unsigned long long> capture{0}; ///< its number; 0: none
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::unique_ptr<Graph> captured;
  std::mutex adding;             ///< of queue: several threads may use a stream
  mscclc::standin::Stream queue; ///< ends before what its work uses
};

/// Null and cudaStreamLegacy are the default stream of the current device; cudaStreamPerThread is the thread's own one.
Stream &streamOf(cudaStream_t stream);
cudaStream_t newStream(int device, unsigned flags);
/// Ends a stream when its work is done.
void endStream(cudaStream_t stream);
std::vector<Stream *> streamsOf(int device);

/// Adds work in stream order. Work of the default stream begins when everything is done that blocking streams of the
/// device had before. Their work begins when everything is done that the default stream had before. Returns the number
/// of the work in the stream's progress, or 0 if the stream is captured.
uint64_t enqueue(cudaStream_t stream, std::function<void()> work);

} // namespace cuda_fake
