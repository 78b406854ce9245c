// Serves the port channels of a rank: takes requests out of its queue, copies, signals and flushes for it.
//
// Copies, signals and flush counts go into one stream, so they take effect in the order of the requests. A request
// names memory by a number that the proxy gave it, so requests of launches on different buffers share a queue, and
// those of a replayed graph mean the buffers that it was captured with.
#pragma once

#include "communicator/graph_hold.h"
#include "communicator/watch.h"
#include "platform/platform.h"

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace mscclc::rt {

/// What the proxy knows of a port channel's end. Addresses are the process's.
struct ProxyChannel {
  uint32_t peer = 0;
  uint64_t *peerInbound = nullptr; ///< null: nobody listens
  uint64_t *flushesDone = nullptr;
  uint64_t signals = 0;
  uint64_t flushes = 0;
};

class Proxy {
public:
  static constexpr uint32_t capacity = 512; ///< requests in a queue; a power of two

  static Status create(Platform &platform, int32_t device, uint32_t rank, std::string kernel,
                       std::vector<ProxyChannel> channels, std::unique_ptr<Proxy> &result);
  ~Proxy();

  const uint64_t *tail() const { return tail_; }
  MscclcTrigger *slots() const { return slots_; }
  /// Makes memory of `bytes` on each rank known: where it begins, by rank. Returns the number that requests name it by,
  /// which is given once. From any thread.
  uint32_t addMemory(std::vector<char *> begins, uint64_t bytes);
  void removeMemory(uint32_t number);
  /// `done` is recorded after each launch of the rank outside of graphs, `graphs` are those that replay others. Both
  /// outlive the proxy's part in its thread.
  void follow(Event done, const GraphHold &graphs) {
    done_ = done;
    graphs_ = &graphs;
  }
  /// A launch is on its way, and its event is recorded.
  void launched() { launched_ = true; }
  /// Whether a launch was on its way when this was asked; a graph's does not count.
  bool isAwaited();
  /// Whether requests may come without anybody saying so.
  bool isInGraph() const { return graphs_ != nullptr && graphs_->lasts(std::chrono::milliseconds(0)); }
  /// Forgets all requests and counts. No launch may run.
  Status reset();

  /// Serves what is there; `served` says whether there was anything.
  Status step(bool &served);

private:
  Proxy(Platform &platform, int32_t device, uint32_t rank, std::string kernel, std::vector<ProxyChannel> channels);
  struct Memory {
    std::vector<char *> begins;
    uint64_t bytes;
  };
  Status warmUp();
  Status serve(const MscclcTrigger &request);
  /// Where a request's data lies at `rank`; null if it is not all there.
  char *placeOf(uint32_t memory, uint32_t rank, uint64_t offset, uint64_t bytes) const;
  Status store(uint64_t *to, uint64_t value, uint64_t place);

  Platform &platform_;
  const int32_t device_;
  const uint32_t rank_;
  const std::string kernel_;
  std::mutex mutex_;
  std::vector<ProxyChannel> channels_;
  std::map<uint32_t, Memory> memories_; ///< by number
  uint32_t nextMemory_ = 0;
  uint64_t next_ = 0; ///< number of the next request
  MscclcTrigger *slots_ = nullptr;
  uint64_t *tail_ = nullptr;
  uint64_t *values_ = nullptr; ///< what is being stored: two for each request of the last `capacity`
  Stream stream_ = nullptr;
  Event done_ = nullptr;
  const GraphHold *graphs_ = nullptr;
  std::atomic<bool> launched_{false};
  Event halves_[2] = {nullptr, nullptr}; ///< after the requests of either half of `values_`
};

/// Runs the proxies of a process's ranks. While a launch runs it asks for requests without a pause, and else begins to
/// sleep.
class ProxyThread {
public:
  explicit ProxyThread(Watch &watch, std::function<void(const Status &)> failed);
  ~ProxyThread();
  void add(Proxy *proxy);
  /// The proxy is not used any more when this returns.
  void remove(Proxy *proxy);
  /// A launch is about to begin.
  void wake();

private:
  void run();
  /// Whether a launch runs; `longest`: how long to sleep at most if not.
  bool isAwaited(std::chrono::microseconds &longest);

  Watch &watch_;
  std::function<void(const Status &)> failed_;
  std::mutex mutex_;
  std::vector<Proxy *> proxies_;
  std::mutex sleepMutex_;
  std::condition_variable woken_;
  bool wake_ = false;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

} // namespace mscclc::rt
