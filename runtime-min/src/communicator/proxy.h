// Serves the port channels of a rank: takes requests out of its queue, copies, signals and flushes for it.
//
// Copies, signals and flush counts go into one stream, so they take effect in the order of the requests. A request
// names memory by a number that the proxy gave it, so requests of launches on different buffers share a queue, and
// those of a replayed graph mean the buffers that it was captured with.
#pragma once

#include "communicator/watch.h"
#include "engine/graph_hold.h"
#include "platform/platform.h"

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
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
  /// Where requests may come from.
  enum class Source {
    Nowhere, ///< none can come before somebody launches, or captures
    Unknown, ///< from a launch that was on its way when last seen, where platforms do not tell of its end
    Graphs,  ///< from graphs that somebody may replay
    Launch   ///< from a launch that was on its way when this was asked
  };
  Source source();
  /// A launch is over, as far as the host has waited: where the platform does not tell, this does.
  void settled() { launched_ = false; }
  /// Forgets all requests and counts. No launch may run.
  Status reset();

  /// Serves what is there; `served` says whether there was anything.
  Status step(bool &served);
  /// Serves all that is there, and waits until it has arrived. No launch runs.
  Status drain();

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

/// Runs the proxies of all communicators of a process (ofProcess). While a launch runs it asks for requests without a
/// pause; then it begins to sleep, and where no requests can come it does so until somebody launches.
class ProxyThread {
public:
  ProxyThread();
  ~ProxyThread();
  /// A proxy that is served while its communicator is well. `failed` is called from this thread.
  struct Served {
    Proxy *proxy;
    const Watch *watch;
    std::function<void(const Status &)> failed;
  };
  void add(Served served);
  /// The proxy is not used any more when this returns.
  void remove(Proxy *proxy);
  /// A launch is about to begin, or has begun.
  void wake();

private:
  void run();
  /// One step of each proxy; whether there was anything to serve.
  bool stepAll();
  Proxy::Source source();
  void sleep(std::chrono::microseconds time);

  std::mutex mutex_;
  std::vector<Served> served_;
  std::mutex sleepMutex_;
  std::condition_variable woken_;
  std::atomic<bool> wake_{false};
  std::atomic<bool> stopping_{false};
  OwnThread thread_;
};

} // namespace mscclc::rt
