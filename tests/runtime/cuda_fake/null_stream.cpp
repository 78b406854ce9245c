// Tests that the fake's default stream orders work as CUDA's does.
#include "catch.h"

#include <atomic>
#include <chrono>
#include <cuda_runtime.h>
#include <thread>

namespace {

/// Work that runs until it is released, and that records that it ran.
struct Held {
  std::atomic<bool> begun{false}, mayEnd{false}, done{false};

  void in(cudaStream_t stream) {
    REQUIRE(cudaLaunchHostFunc(
                stream,
                [](void *of) {
                  Held &self = *static_cast<Held *>(of);
                  self.begun = true;
                  while (!self.mayEnd)
                    std::this_thread::yield();
                  self.done = true;
                },
                this) == cudaSuccess);
  }
  /// Returns whether it begins within a time that is long enough.
  bool begins() const {
    for (int i = 0; i < 100 && !begun; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return begun;
  }
};

class Streams {
public:
  Streams() {
    cudaSetDevice(0);
    REQUIRE(cudaStreamCreateWithFlags(&blocking, cudaStreamDefault) == cudaSuccess);
    REQUIRE(cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking) == cudaSuccess);
  }
  ~Streams() {
    cudaStreamDestroy(blocking);
    cudaStreamDestroy(apart);
  }
  Streams(const Streams &) = delete;
  Streams &operator=(const Streams &) = delete;

  cudaStream_t blocking = nullptr, apart = nullptr;
};

} // namespace

TEST_CASE("Work of the default stream does not run in the caller") {
  Held held;
  cudaSetDevice(0);
  held.in(nullptr);
  CHECK(held.begins());
  CHECK(cudaStreamQuery(nullptr) == cudaErrorNotReady);
  held.mayEnd = true;
  CHECK(cudaStreamSynchronize(nullptr) == cudaSuccess);
  CHECK(held.done);
  CHECK(cudaStreamQuery(cudaStreamLegacy) == cudaSuccess);
}

TEST_CASE("Each device has a default stream") {
  Held first, second;
  cudaSetDevice(0);
  first.in(nullptr);
  cudaSetDevice(1);
  second.in(nullptr);
  CHECK(second.begins());
  second.mayEnd = true;
  CHECK(cudaStreamSynchronize(nullptr) == cudaSuccess);
  CHECK(!first.done);
  first.mayEnd = true;
  cudaSetDevice(0);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(first.done);
}

TEST_CASE("The default stream waits for blocking streams, and they for it; others do not take part") {
  Streams streams;
  Held before, apart, within, after;
  before.in(streams.blocking);
  apart.in(streams.apart);
  within.in(nullptr);
  after.in(streams.blocking);
  CHECK(before.begins());
  CHECK(apart.begins());
  CHECK(!within.begins());
  before.mayEnd = true;
  CHECK(within.begins());
  CHECK(!after.begins());
  within.mayEnd = true;
  CHECK(after.begins());
  after.mayEnd = true;
  CHECK(cudaStreamSynchronize(nullptr) == cudaSuccess); // waits for `after`, not for `apart`
  CHECK(after.done);
  CHECK(!apart.done);
  apart.mayEnd = true;
}

TEST_CASE("The default stream of a thread is a blocking stream of its own") {
  cudaSetDevice(0);
  Held legacy, own;
  legacy.in(nullptr);
  std::thread other([&] {
    cudaSetDevice(0);
    own.in(cudaStreamPerThread);
  });
  CHECK(legacy.begins());
  CHECK(!own.begins());
  legacy.mayEnd = own.mayEnd = true;
  other.join();
  CHECK(own.done);
}
