// The network of the double's device communicators: puts and signals into the memory of other processes.
#pragma once

#include "nccl_device.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <mutex>
#include <sys/mman.h>
#include <thread>
#include <vector>

namespace nccl_double {

/// A rank's memory as the network of this process reaches it.
struct Part {
  char *begin;
  uint64_t bytes;
};

/// Late, as NCCL allows: a put is done by the first signal of its context to its peer, by a flush of its context, or
/// some time after. Until then its source is read by nobody, and what was put is seen by nobody.
class Network : public NcclDoubleNetwork {
public:
  /// `signals`: of each rank, `count` of each of the `contexts`. `partsOf` a window says where each rank has its
  /// memory.
  Network(int rank, uint32_t contexts, uint32_t count, std::vector<Part> signals,
          const std::vector<Part> &(*partsOf)(ncclWindow_t))
      : rank_(static_cast<size_t>(rank)), count_(count), signals_(std::move(signals)), partsOf_(partsOf),
        pending_(contexts) {
    // NCCL gives signals again, with the values that they have.
    for (uint32_t context = 0; context < contexts; ++context)
      for (uint32_t signal = 0; signal < count; ++signal)
        word(rank_, context, signal).store(uint64_t{1000} + signal);
    late_ = std::thread([this] { doLate(); });
  }
  ~Network() override {
    stopping_ = true;
    late_.join();
    for (const Part &part : signals_)
      ::munmap(part.begin, part.bytes);
  }

  void put(uint32_t context, int peer, ncclWindow_t to, size_t toOffset, ncclWindow_t from, size_t fromOffset,
           size_t bytes) override {
    const Put put{peer, within(partsOf_(to)[static_cast<size_t>(peer)], toOffset, bytes),
                  within(partsOf_(from)[rank_], fromOffset, bytes), bytes};
    const std::lock_guard<std::mutex> lock(mutex_);
    pending_.at(context).push_back(put);
    ++posted_;
  }
  void signal(uint32_t context, int peer, ncclGinSignal_t signal) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    settle(context, [&](const Put &put) { return put.peer == peer; });
    word(static_cast<size_t>(peer), context, signal).fetch_add(1, std::memory_order_release);
  }
  uint64_t read(uint32_t context, ncclGinSignal_t signal) override {
    return word(rank_, context, signal).load(std::memory_order_acquire);
  }
  void reset(uint32_t context, ncclGinSignal_t signal) override { word(rank_, context, signal).store(0); }
  void flush(uint32_t context) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    settle(context, [](const Put &) { return true; });
  }

private:
  struct Put {
    int peer;
    char *to;
    const char *from;
    size_t bytes;
  };

  static char *within(const Part &part, size_t offset, size_t bytes) {
    if (offset <= part.bytes && bytes <= part.bytes - offset)
      return part.begin + offset;
    std::fprintf(stderr, "nccl double: %zu bytes at %zu run past a window\n", bytes, offset);
    std::abort();
  }
  std::atomic<uint64_t> &word(size_t rank, uint32_t context, ncclGinSignal_t signal) {
    if (context >= pending_.size() || signal >= count_) {
      std::fprintf(stderr, "nccl double: no signal %u in context %u\n", signal, context);
      std::abort();
    }
    return reinterpret_cast<std::atomic<uint64_t> *>(signals_[rank].begin)[context * count_ + signal];
  }
  template <class Which> void settle(uint32_t context, Which which) {
    std::list<Put> &puts = pending_.at(context);
    for (auto put = puts.begin(); put != puts.end();) {
      if (!which(*put)) {
        ++put;
        continue;
      }
      copy(*put);
      put = puts.erase(put);
    }
  }
  /// Whoever polls what was put sees aligned words whole.
  static void copy(const Put &put) {
    const uintptr_t low =
        reinterpret_cast<uintptr_t>(put.to) | reinterpret_cast<uintptr_t>(put.from) | static_cast<uintptr_t>(put.bytes);
    if (low % sizeof(uint64_t) != 0) {
      std::memcpy(put.to, put.from, put.bytes);
      return;
    }
    for (size_t at = 0; at < put.bytes; at += sizeof(uint64_t))
      __atomic_store_n(reinterpret_cast<uint64_t *>(put.to + at), *reinterpret_cast<const uint64_t *>(put.from + at),
                       __ATOMIC_RELEASE);
  }
  /// Does puts once no more have come for a while.
  void doLate() {
    for (uint64_t before = 0; !stopping_;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      const std::lock_guard<std::mutex> lock(mutex_);
      for (uint32_t context = 0; before == posted_ && context < pending_.size(); ++context)
        settle(context, [](const Put &) { return true; });
      before = posted_;
    }
  }

  const size_t rank_;
  const uint32_t count_;
  const std::vector<Part> signals_; ///< by rank
  const std::vector<Part> &(*const partsOf_)(ncclWindow_t);
  std::mutex mutex_;
  std::vector<std::list<Put>> pending_; ///< by context
  uint64_t posted_ = 0;
  std::atomic<bool> stopping_{false};
  std::thread late_;
};

} // namespace nccl_double
