// The platform of the device headers in plain C++17, so that an emitted kernel runs without a GPU. Threads of the host
// run the thread blocks of a launch (standin_block.h). Counters and packets are atomic words, and data is ordinary
// memory. The kernel relies only on the C++ memory model, so -fsanitize=thread finds missing synchronisation of the
// plan itself.
//
// A stream is a mscclc::standin::Stream. Launches on one stream run one after the other. Launches on different streams
// run concurrently.
#pragma once

#include "mscclc/runtime_abi.h"
#include "mscclc/standin_block.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#define MSCCLC_DEVICE inline
#define MSCCLC_COLD inline __attribute__((noinline))
#define MSCCLC_OUTLINE inline
#define MSCCLC_BOTH inline
#define MSCCLC_BLOCK static
#define MSCCLC_KERNEL(threads, blocksOnEach) void
#define MSCCLC_PARAMETERS(type) const type &
#define MSCCLC_TABLE static const
#define MSCCLC_LARGE_TABLE static const
#define MSCCLC_UNROLL
#define MSCCLC_UNROLL_FEW
#define MSCCLC_UNROLL_SOME
#define MSCCLC_NO_UNROLL

namespace mscclc::standin {

/// Runs launches in order. A new launch blocks the caller while `capacity` launches are pending. The destructor waits
/// for all launches.
class Stream {
public:
  static constexpr unsigned capacity = 64;

  ~Stream() { synchronize(); }
  void synchronize() {
    if (last_.joinable())
      last_.join();
  }
  void launch(unsigned blocks, unsigned threads, std::function<void()> kernel) {
    {
      std::unique_lock<std::mutex> lock(mutex_);
      ended_.wait(lock, [&] { return pending_ < capacity; });
      ++pending_;
    }
    std::thread previous = std::move(last_);
    last_ = std::thread([this, blocks, threads, previous = std::move(previous), kernel = std::move(kernel)]() mutable {
      if (previous.joinable())
        previous.join();
      const unsigned workers = std::min(blocks, std::max(std::thread::hardware_concurrency(), 1u));
      std::vector<std::thread> running;
      running.reserve(workers);
      for (unsigned worker = 0; worker < workers; ++worker)
        running.emplace_back([=, &kernel] { Worker::run(worker, workers, blocks, threads, kernel); });
      for (std::thread &t : running)
        t.join();
      const std::lock_guard<std::mutex> lock(mutex_);
      --pending_;
      ended_.notify_one();
    });
  }

private:
  std::thread last_;
  std::mutex mutex_;
  std::condition_variable ended_;
  unsigned pending_ = 0;
};

} // namespace mscclc::standin

namespace mscclc::device::detail {

struct alignas(16) Vec16 {
  uint32_t w[4];
};
struct alignas(8) Vec8 {
  uint32_t w[2];
};

inline unsigned threadId() {
  return standin::position->thread;
}
inline unsigned threadCount() {
  return standin::position->threads;
}
inline unsigned blockId() {
  return standin::position->block;
}
inline unsigned blockCount() {
  return standin::position->blocks;
}
inline void syncBlock() {
  if (standin::position->threads > 1)
    standin::position->shared->worker->barrier();
}
/// Returns memory for 1024 floats that the threads of a block share.
inline float *sharedResults() {
  return standin::position->shared->results;
}

inline uint64_t nanoseconds() {
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}
/// Lets other threads run. A wait calls this after each poll.
inline void pause() {
  if (standin::position->shared != nullptr)
    standin::position->shared->worker->pause();
  else
    standin::pauseHost();
}
constexpr unsigned pollsBetweenChecks = 1; // a poll switches threads, so a check after each poll costs little

inline void assume(bool) {}
template <class V> V apart(V v) {
  return v;
}
inline Vec16 load16(const void *p) {
  Vec16 v;
  std::memcpy(&v, __builtin_assume_aligned(p, 16), 16);
  return v;
}
inline void store16(void *p, Vec16 v) {
  std::memcpy(__builtin_assume_aligned(p, 16), &v, 16);
}
template <class Word> inline Word loadAs(const void *p) {
  Word v;
  std::memcpy(&v, __builtin_assume_aligned(p, alignof(Word)), sizeof(Word));
  return v;
}
template <class Word> inline void storeAs(void *p, const Word &v) {
  std::memcpy(__builtin_assume_aligned(p, alignof(Word)), &v, sizeof(Word));
}

/// Thread sanitizers ignore fences. launchBegins() shows them the order that a fence makes before relaxed signals.
inline void fenceSystem() {
#ifndef MSCCLC_STANDIN_TSAN
  __atomic_thread_fence(__ATOMIC_ACQ_REL);
#endif
}
inline void fenceAliases() {}
/// These do nothing, because launches of a stream follow each other.
inline void awaitEarlierKernel() {}
inline void letNextKernelBegin() {}
inline uint64_t loadRelaxed(const uint64_t *p) {
  return __atomic_load_n(p, __ATOMIC_RELAXED);
}
inline uint64_t loadAcquire(const uint64_t *p) {
  return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}
inline void storeRelaxed(uint64_t *p, uint64_t v) {
  __atomic_store_n(p, v, __ATOMIC_RELAXED);
}
inline void storeRelease(uint64_t *p, uint64_t v) {
  __atomic_store_n(p, v, __ATOMIC_RELEASE);
}
template <bool Release> void raise(uint64_t *counter, bool stores, uint64_t *sent) {
  constexpr int order = Release ? __ATOMIC_RELEASE : __ATOMIC_RELAXED;
  if (!stores) {
    __atomic_fetch_add(counter, uint64_t{1}, order);
    return;
  }
  const uint64_t count = loadRelaxed(sent) + 1;
  storeRelaxed(sent, count);
  __atomic_store_n(counter, count, order);
}
inline uint64_t fetchAddDevice(uint64_t *p, uint64_t v) {
  return __atomic_fetch_add(p, v, __ATOMIC_ACQ_REL);
}
inline uint32_t fetchAddDevice(uint32_t *p, uint32_t v) {
  return __atomic_fetch_add(p, v, __ATOMIC_ACQ_REL);
}
inline uint64_t fetchOrDevice(uint64_t *p, uint64_t bits) {
  return __atomic_fetch_or(p, bits, __ATOMIC_RELAXED);
}
inline void addDevice(uint64_t *p, uint64_t v) {
  __atomic_fetch_add(p, v, __ATOMIC_RELAXED);
}
inline uint64_t loadAcquireDevice(const uint64_t *p) {
  return loadAcquire(p);
}
inline uint32_t loadAcquireDevice(const uint32_t *p) {
  return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}
inline void storeReleaseDevice(uint32_t *p, uint32_t v) {
  __atomic_store_n(p, v, __ATOMIC_RELEASE);
}
inline void addReleaseDevice(uint32_t *p, uint32_t v) {
  __atomic_fetch_add(p, v, __ATOMIC_RELEASE);
}
inline bool replaceAcquireDevice(uint32_t *p, uint32_t expected, uint32_t desired) {
  return __atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}
inline uint32_t loadHost(const uint32_t *p) {
  return __atomic_load_n(p, __ATOMIC_RELAXED);
}
inline void storeHost(uint32_t *p, uint32_t v) {
  __atomic_store_n(p, v, __ATOMIC_RELEASE);
}
inline uint32_t fetchAddHost(uint32_t *p, uint32_t v) {
  return __atomic_fetch_add(p, v, __ATOMIC_ACQUIRE); // acquires, because the host may have emptied the entry
}
inline uint64_t fetchOrHost(uint64_t *p, uint64_t bits) {
  return __atomic_fetch_or(p, bits, __ATOMIC_RELAXED);
}

// A packet word is data and flag in one 8-byte atomic. An LL16 packet is two such words, each with its own flag.
//
// Words are stored with release and loaded with acquire, because a packet orders more than its data. Its sender has
// read the sources before it sent the packet, so the receiver may overwrite these sources. Without release and acquire,
// this would be a race in C++.
inline void storePacket8(void *p, uint32_t data, uint32_t flag) {
  storeRelease(static_cast<uint64_t *>(p), uint64_t{flag} << 32 | data);
}
inline void loadPacket8(const void *p, uint32_t &data, uint32_t &flag) {
  const uint64_t word = loadAcquire(static_cast<const uint64_t *>(p));
  data = static_cast<uint32_t>(word);
  flag = static_cast<uint32_t>(word >> 32);
}
inline void storeWords16(void *p, Vec16 data) {
  storePacket8(p, data.w[0], data.w[1]);
  storePacket8(static_cast<char *>(p) + 8, data.w[2], data.w[3]);
}
inline void loadWords16(const void *p, Vec16 &data) {
  loadPacket8(p, data.w[0], data.w[1]);
  loadPacket8(static_cast<const char *>(p) + 8, data.w[2], data.w[3]);
}
inline void storePacket16(void *p, Vec8 data, uint32_t flag) {
  storeWords16(p, {{data.w[0], flag, data.w[1], flag}});
}
inline void loadPacket16(const void *p, Vec8 &data, uint32_t &flag0, uint32_t &flag1) {
  Vec16 words;
  loadWords16(p, words);
  data = {{words.w[0], words.w[2]}};
  flag0 = words.w[1];
  flag1 = words.w[3];
}

// A relaxed signal carries no data of its launch. But everything before the launch happens before the launch, so a peer
// that sees the signal may rely on it. The C++ memory model cannot express this order, so these functions show it to
// the sanitizer: the beginning of a launch releases a word, and a thread that has seen a relaxed signal acquires the
// word. Only the addresses of the words matter.
#ifdef MSCCLC_STANDIN_TSAN
inline char launchWords[4096][2];
inline void launchBegins(uint32_t rank, uint64_t launch) {
  __tsan_release(&launchWords[rank % 4096][launch % 2]);
}
inline void peerLaunchSeen(uint32_t peer, uint64_t launch) {
  __tsan_acquire(&launchWords[peer % 4096][launch % 2]);
}
#else
inline void launchBegins(uint32_t /*rank*/, uint64_t /*launch*/) {}
inline void peerLaunchSeen(uint32_t /*peer*/, uint64_t /*launch*/) {}
#endif

} // namespace mscclc::device::detail
