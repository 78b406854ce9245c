// Notices that a kernel's wait timed out, makes the waits of all ranks give up, and says who waited for what.
#pragma once

#include "status.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace mscclc::rt {

/// One line: "rank 2, block 0, operation 5 waits for …".
std::string describeStall(const char *kernel, const MscclcStall &stall);

class Watch {
public:
  /// `grace`: how long after the first stall the others are given to report theirs. `stalled` is called from the
  /// watch's thread, once for each failure that begins here. `ask` is called from there again and again while kernels
  /// are loaded; what it returns is a failure too.
  Watch(std::chrono::milliseconds grace, std::function<void(const Status &)> stalled, std::function<Status()> ask);
  ~Watch();
  /// No call of `stalled` or `ask` is made any more when this returns.
  void stop();

  /// Watches the status of a rank's launches; `kernel` outlives it.
  void add(MscclcStatus *status, const char *kernel);
  void remove(MscclcStatus *status);
  /// The status of a rank's settling, which waits also after a failure: only a lost process, a first failure and
  /// giveUpSettling make it give up, and nobody hears of its stalls from here.
  void addSettling(MscclcStatus *status);
  void removeSettling(MscclcStatus *status);
  void giveUpSettling();

  /// The first failure, if any. From any thread.
  Status health() const;
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  /// Makes all waits give up. The first failure is kept; true if this is it.
  bool fail(const Status &reason);
  /// When no launch runs: a stall that was not noticed yet is, now.
  void check();
  /// After a failure, when no launch runs: forgets it and all stalls.
  void clear();

private:
  struct Entry {
    MscclcStatus *status;
    const char *kernel;
  };
  void run();
  bool anyAborted() const;
  std::string collect() const;

  const std::chrono::milliseconds grace_;
  const std::function<void(const Status &)> stalled_;
  const std::function<Status()> ask_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Entry> entries_;
  std::vector<MscclcStatus *> settling_;
  Status failure_;
  std::atomic<bool> failed_{false};
  bool stopping_ = false;
  std::thread thread_;
};

} // namespace mscclc::rt
