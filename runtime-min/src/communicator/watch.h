// Notices that a kernel's wait timed out, makes the waits of all ranks give up, and says who waited for what. It looks
// while launches are on their way, from the thread of the process that watches for all (../bootstrap/watcher.h).
#pragma once

#include "bootstrap/watcher.h"
#include "engine/engine.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace mscclc::rt {

/// One line: "kernel 'k': rank 2, block 0, operation 5 waits for …".
std::string describeStall(const char *kernel, const MscclcStall &stall);

class Watch {
public:
  /// `grace`: how long after the first stall the others are given to report theirs. `engine` is asked for its health
  /// again and again while launches run, from another thread. It tells the other processes of each failure that begins
  /// here, and gives up its waits at the first and at a lost process.
  Watch(std::chrono::milliseconds grace, Engine &engine) : grace_(grace), engine_(engine) {}
  ~Watch() { stop(); }
  /// The engine is not asked any more when this returns.
  void stop();

  /// Watches the status of a rank's launches; `kernel` outlives it. `mayRun`: whether there are launches that nobody
  /// has waited for, or graphs of them. It is asked from another thread, and calls nothing of the device's: that might
  /// wait for who waits for a launch.
  void add(MscclcStatus *status, const char *kernel, std::function<bool()> mayRun);
  void remove(MscclcStatus *status);
  /// A launch of these has begun, or is captured, and its `mayRun` says so.
  void launched();

  /// The first failure, if any. From any thread.
  Status health() const;
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  /// Makes all waits give up. The first failure is kept; true if this is it.
  bool fail(const Status &reason);
  /// A stall that was not noticed yet is, now.
  void check();
  /// Asks now, whatever runs.
  void look();
  /// After a failure, when no launch runs: forgets it and all stalls.
  void clear();

private:
  struct Entry {
    MscclcStatus *status;
    const char *kernel;
    std::function<bool()> mayRun;
  };
  /// Looks, and says after which time to do so again.
  Watcher::Interval tick();
  bool anyAborted() const;
  Status collect() const;

  const std::chrono::milliseconds grace_;
  Engine &engine_;
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
  Status failure_;
  std::atomic<bool> failed_{false};
  bool stopping_ = false;
  using Clock = std::chrono::steady_clock;
  std::atomic<Clock::rep> lastLaunch_{0};
  std::atomic<bool> isSoon_{false}; ///< the next tick is
  Clock::time_point firstStall_{};  ///< of tick() alone; 0: none
  const std::shared_ptr<Watcher> watcher_ = ofProcess<Watcher>();
  const Watcher::Key key_ = watcher_->add(-1, [this] { return tick(); });
};

} // namespace mscclc::rt
