// Serves the port channels of a rank: takes requests out of its queue, copies, signals and flushes for it.
//
// Copies, signals and flush counts go into one stream, so they take effect in the order of the requests. A request
// names a memory by the number that the proxy gave it. So launches on different buffers share a queue, and the requests
// of a replayed graph name the buffers with which it was captured.
#pragma once

#include "communicator/communicator.h"

namespace mscclc::rt {

class Proxy;

/// The possible origins of requests.
enum class RequestSource {
  Nowhere, ///< no request can come before the next launch or capture
  Unknown, ///< from a launch that was in flight at the last check; the platform does not report its end
  Graphs,  ///< from graphs that the program may replay
  Launch   ///< from a launch that was in flight at the time of the question
};

/// Runs the proxies of all communicators of a process (ofProcess). While a launch runs, the thread polls for requests
/// without a pause. Afterwards it begins to sleep between polls. If no requests can come, it sleeps until the next
/// launch.
class ProxyThread {
public:
  ProxyThread();
  ~ProxyThread();
  /// Adds a proxy. The thread serves it until its communicator fails.
  void add(Proxy *proxy);
  /// Removes a proxy. When this returns, the thread no longer uses it.
  void remove(Proxy *proxy);
  /// Wakes the thread, because a launch is about to begin or has begun.
  void wake();

private:
  void run();
  /// Does one step of each proxy. Returns whether there were any requests.
  bool stepAll();
  RequestSource source();
  void sleep(std::chrono::microseconds time);

  std::mutex mutex_;
  std::vector<Proxy *> served_;
  std::mutex sleepMutex_;
  std::condition_variable woken_;
  std::atomic<bool> wake_{false};
  std::atomic<bool> stopping_{false};
  OwnThread thread_;
};

class Proxy final : public Ports {
public:
  static constexpr uint32_t capacity = 512; ///< number of requests that a queue has room for; a power of two

  /// createProxy.
  static Status create(Communicator &communicator, uint32_t localIndex, const MscclcKernel &kernel,
                       const GraphHold &graphs, const PortRank &rank, std::unique_ptr<Ports> &ports);
  ~Proxy() override;

  void fill(uint32_t localIndex, const Memory *const (&memories)[4], MscclcRankArgs &args) override;
  void wake() override { thread_->wake(); }
  void launched(uint32_t localIndex) override { setLaunched(localIndex, true); }
  /// Records the end of launches on a platform that does not report it.
  void settled(uint32_t localIndex) override { setLaunched(localIndex, false); }
  Status drain() override;
  void forget(const Memory *memory) override;
  Status reset() override;

  RequestSource source();
  bool isWell() const { return !communicator_.watch().failed(); }
  /// Serves requests of the queue, at most a batch. Sets `served` to whether there were any. If it fails, the whole
  /// communicator must fail.
  Status step(bool &served);
  void fail(const Status &reason) { communicator_.fail(reason); }

private:
  Proxy(Communicator &communicator, uint32_t localIndex, const MscclcKernel &kernel, const GraphHold &graphs,
        const PortRank &rank);
  Status open();
  void setLaunched(uint32_t localIndex, bool launched) {
    if (localIndex == localIndex_)
      launched_ = launched;
  }
  /// Host memory that the device can access.
  struct Queue {
    uint64_t tail;
    alignas(64) MscclcTrigger slots[capacity];
    uint64_t values[2 * capacity]; ///< values to store: two for each of the last `capacity` requests
  };
  struct Known {
    std::vector<char *> begins; ///< by rank
    uint64_t bytes;
  };
  struct Counts {
    uint64_t signals = 0, flushes = 0;
  };
  Status warmUp();
  uint32_t numberOf(const Memory *memory);
  Status serve(const MscclcTrigger &request);
  /// Returns the address of a request's data at `rank`; null if the buffer does not contain all of it.
  char *placeOf(uint32_t memory, uint32_t rank, uint64_t offset, uint64_t bytes) const;
  Status store(uint64_t *to, uint64_t value, uint64_t place);

  const std::shared_ptr<ProxyThread> thread_ = ofProcess<ProxyThread>();
  Communicator &communicator_;
  Platform &platform_;
  const uint32_t localIndex_;
  const int32_t device_;
  const MscclcKernel &kernel_;
  const GraphHold &graphs_;
  const PortRank rank_;
  std::mutex mutex_;
  std::vector<Counts> counts_;                 ///< by channel
  std::map<uint32_t, Known> memories_;         ///< by number; a number is never used again
  std::map<const Memory *, uint32_t> numbers_; ///< used only by the launching thread, without a lock
  uint32_t nextMemory_ = 0;
  uint64_t next_ = 0; ///< number of the next request
  Queue *queue_ = nullptr;
  Stream stream_ = nullptr;
  std::atomic<bool> launched_{false};
  Event halves_[2] = {nullptr, nullptr}; ///< events, by half of `values`: recorded after the requests that use the half
};

} // namespace mscclc::rt
