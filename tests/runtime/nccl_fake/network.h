// The network of the fake's device communicators: puts and signals into the memory of other processes.
#pragma once

#include "nccl_device.h"

#include <algorithm>
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

namespace nccl_fake {

/// A rank's memory as the network of this process reaches it.
struct Part {
  char *begin;
  uint64_t bytes;
};

/// Delivers late, as NCCL allows. A put or signal arrives with the next signal of its context to its peer, or some time
/// later. A flush takes the data from its source, and does not wait until it arrives. Until then nobody reads the
/// source, and nobody sees the data. NCCL_FAKE_LATE: milliseconds for which everything that is sent from then on is on
/// its way (default: 0); nothing overtakes earlier data. If NCCL_FAKE_KEEPS is set, nothing ever leaves its source, as
/// if peers did not answer.
class Network : public NcclDoubleNetwork {
public:
  /// `signals`: of each rank, `count` of each of the `contexts`. `partsOf` a window says where each rank has its
  /// memory.
  Network(int rank, uint32_t contexts, uint32_t count, uint32_t counters, std::vector<Part> signals,
          const std::vector<Part> &(*partsOf)(ncclWindow_t))
      : rank_(static_cast<size_t>(rank)), count_(count), signals_(std::move(signals)), partsOf_(partsOf),
        keeps_(std::getenv("NCCL_FAKE_KEEPS") != nullptr), pending_(contexts), counters_(contexts) {
    // NCCL gives signals and counters again, with the values that they have.
    for (uint32_t context = 0; context < contexts; ++context) {
      for (uint32_t signal = 0; signal < count; ++signal)
        word(rank_, context, signal).store(uint64_t{1000} + signal);
      counters_[context].assign(counters, 77);
    }
    later_ = std::thread([this] { doLater(); });
  }
  ~Network() override {
    stopping_ = true;
    later_.join();
    for (const Part &part : signals_)
      ::munmap(part.begin, part.bytes);
  }

  void put(uint32_t context, int peer, ncclWindow_t to, size_t toOffset, ncclWindow_t from, size_t fromOffset,
           size_t bytes, const ncclGinCounter_t *counter) override {
    Sent put{peer, within(partsOf_(to)[static_cast<size_t>(peer)], toOffset, bytes),
             within(partsOf_(from)[rank_], fromOffset, bytes), bytes};
    const std::lock_guard<std::mutex> lock(mutex_);
    if (counter != nullptr)
      put.counter = &counters_.at(context).at(*counter);
    post(context, put, late());
    ++posted_;
  }
  void signal(uint32_t context, int peer, ncclGinSignal_t signal) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    Sent sent{peer, nullptr, nullptr, 0};
    sent.signal = &word(static_cast<size_t>(peer), context, signal);
    const std::chrono::milliseconds way = late();
    post(context, sent, way);
    const Clock::time_point now = Clock::now();
    if (way.count() == 0 && pending_.at(context).back().due <= now)
      arrive(context, [&](const Sent &one) { return one.peer == peer; });
  }
  uint64_t read(uint32_t context, ncclGinSignal_t signal) override {
    return word(rank_, context, signal).load(std::memory_order_acquire);
  }
  void reset(uint32_t context, ncclGinSignal_t signal) override { word(rank_, context, signal).store(0); }
  uint64_t readCounter(uint32_t context, ncclGinCounter_t counter) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!keeps_)
      leave(context);
    return counters_.at(context).at(counter);
  }
  void resetCounter(uint32_t context, ncclGinCounter_t counter) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    counters_.at(context).at(counter) = 0;
  }
  bool flush(uint32_t context) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!keeps_)
      leave(context);
    return !keeps_;
  }

private:
  using Clock = std::chrono::steady_clock;
  /// A put, or a signal.
  struct Sent {
    int peer;
    char *to;
    const char *from;
    size_t bytes;
    std::vector<char> left = {}; ///< what has left its source
    uint64_t *counter = nullptr;
    std::atomic<uint64_t> *signal = nullptr;
    Clock::time_point due = {}; ///< it arrives then, or before
  };

  static std::chrono::milliseconds late() {
    const char *const set = std::getenv("NCCL_FAKE_LATE");
    return std::chrono::milliseconds(set == nullptr ? 0 : std::atoi(set));
  }
  void post(uint32_t context, Sent sent, std::chrono::milliseconds way) {
    std::list<Sent> &all = pending_.at(context);
    sent.due = Clock::now() + way;
    if (!all.empty())
      sent.due = std::max(sent.due, all.back().due);
    all.push_back(std::move(sent));
  }

  static char *within(const Part &part, size_t offset, size_t bytes) {
    if (offset <= part.bytes && bytes <= part.bytes - offset)
      return part.begin + offset;
    std::fprintf(stderr, "nccl fake: %zu bytes at %zu run past a window\n", bytes, offset);
    std::abort();
  }
  std::atomic<uint64_t> &word(size_t rank, uint32_t context, ncclGinSignal_t signal) {
    if (context >= pending_.size() || signal >= count_) {
      std::fprintf(stderr, "nccl fake: no signal %u in context %u\n", signal, context);
      std::abort();
    }
    return reinterpret_cast<std::atomic<uint64_t> *>(signals_[rank].begin)[context * count_ + signal];
  }
  /// The sources may be written again.
  void leave(uint32_t context) {
    for (Sent &put : pending_.at(context)) {
      if (put.from == nullptr)
        continue;
      put.left.assign(put.from, put.from + put.bytes);
      put.from = nullptr;
      if (put.counter != nullptr)
        ++*put.counter;
    }
  }
  template <class Which> void arrive(uint32_t context, Which which) {
    if (!keeps_)
      leave(context);
    std::list<Sent> &all = pending_.at(context);
    for (auto sent = all.begin(); sent != all.end();) {
      if (!which(*sent)) {
        ++sent;
        continue;
      }
      if (sent->signal != nullptr)
        sent->signal->fetch_add(1, std::memory_order_release);
      else
        copy(sent->to, sent->from != nullptr ? sent->from : sent->left.data(), sent->bytes);
      sent = all.erase(sent);
    }
  }
  /// Whoever polls what was put sees aligned words whole.
  static void copy(char *to, const char *from, size_t bytes) {
    const uintptr_t low = reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from) | bytes;
    if (low % sizeof(uint64_t) != 0) {
      std::memcpy(to, from, bytes);
      return;
    }
    for (size_t at = 0; at < bytes; at += sizeof(uint64_t))
      __atomic_store_n(reinterpret_cast<uint64_t *>(to + at), *reinterpret_cast<const uint64_t *>(from + at),
                       __ATOMIC_RELEASE);
  }
  /// Lets arrive what is late enough, once no more has come for a while.
  void doLater() {
    for (uint64_t before = 0; !stopping_;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      const std::lock_guard<std::mutex> lock(mutex_);
      const Clock::time_point now = Clock::now();
      for (uint32_t context = 0; before == posted_ && context < pending_.size(); ++context)
        arrive(context, [&](const Sent &sent) { return sent.due <= now; });
      before = posted_;
    }
  }

  const size_t rank_;
  const uint32_t count_;
  const std::vector<Part> signals_; ///< by rank
  const std::vector<Part> &(*const partsOf_)(ncclWindow_t);
  const bool keeps_;
  std::mutex mutex_;
  std::vector<std::list<Sent>> pending_;        ///< by context
  std::vector<std::vector<uint64_t>> counters_; ///< by context
  uint64_t posted_ = 0;
  std::atomic<bool> stopping_{false};
  std::thread later_;
};

} // namespace nccl_fake
