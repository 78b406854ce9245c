// Notices the timeout of a wait in a kernel. Then it makes the waits of all ranks give up, and reports the waits of
// each rank. It looks while launches are in flight, on the process's watching thread (../process/watcher.h).
#pragma once

#include "engine/engine.h"
#include "process/watcher.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace mscclc::rt {

/// A local rank of an instance.
struct WatchedRank {
  MscclcStatus *status;       ///< the status of its launches
  const MscclcKernel *kernel; ///< outlives the status
  /// Returns whether a launch may still run: nobody has waited for it, or a graph holds it. Another thread calls this.
  /// It must not call the device, because such a call may wait for a thread that waits for a launch.
  std::function<bool()> mayRun;
  /// The counters of the instance, in which the launches of all ranks are counted. Null but for one local rank.
  const Memory *counters;
};

/// A report of launches that hang.
struct HangReport;

/// Explains launches that hang. It is a part of its own (../../hangs). Without it, errors name the time-out alone.
class Hangs {
public:
  virtual ~Hangs() = default;
  /// Returns a text of the waits of these ranks, from the memory of the host alone.
  virtual std::string explainWaits(const std::vector<WatchedRank> &ranks) const = 0;
  /// Reads the waits of these ranks, and the launches of all ranks but the `lost` ones. A call of a device may wait.
  virtual std::shared_ptr<const HangReport> read(const std::vector<WatchedRank> &ranks,
                                                 const std::vector<uint32_t> &lost) const = 0;
  virtual std::string explain(const HangReport &report) const = 0;
  /// Writes the report of a failure to the file of MSCCLC_DUMP.
  virtual void dump(const HangReport &report, const Status &reason) const = 0;
  /// Prints a line about waits that continue, and writes them to that file.
  virtual void warnOf(const HangReport &report) const = 0;
};

class Watch {
public:
  /// `grace`: how long after the first stall the others are given to report theirs. `engine` is asked for its health
  /// again and again while launches run, from another thread. It informs the other processes of each failure that
  /// begins here, and gives up its waits at the first and at a lost process.
  Watch(std::chrono::milliseconds grace, Engine &engine) : grace_(grace), engine_(engine) {}
  ~Watch() { stop(); }
  /// The engine is not asked any more when this returns.
  void stop();

  /// Explains hangs from now on, when the processes have met. Null: hangs are not explained.
  void explainBy(std::unique_ptr<Hangs> hangs);

  void add(WatchedRank rank);
  /// Stops watching a rank. Returns when no report about it is being written.
  void remove(MscclcStatus *status);
  /// Stops reading the launches of `status`, because the memory of other ranks is released. Null: those of all.
  void forgetLaunches(const MscclcStatus *status);
  /// A launch of these has begun, or is captured, and its `mayRun` says so.
  void launched();

  /// Returns the first failure, if there is one. From any thread.
  Status health() const;
  bool failed() const { return state_.load(std::memory_order_acquire) != State::Well; }
  /// Makes all waits give up. Keeps the first failure. Returns true if this is the first one.
  bool fail(const Status &reason);
  /// Looks for waits that have given up, and fails if there are any. After a failure, adds to its text the waits that
  /// it has ended, and their causes.
  void check();
  /// After a failure, waits a short time for the result of check().
  void awaitDescription() const;
  /// Asks the engine for a failure now, whether launches run or not.
  void look();
  /// Forgets a failure and all stalls. No launch may be running.
  void clear();

private:
  /// Transitions: Well → Failed by fail(), Well or Failed → Explaining → Described by check(), any → Well by clear().
  enum class State {
    Well,
    Failed,     ///< failure_ has the reason
    Explaining, ///< check() finds the reasons of waits, by rank
    Described   ///< failure_ says it
  };
  /// Looks, and returns the time until the next look.
  Watcher::Interval tick();
  void abortAll() const;
  bool anyAborted() const;
  bool anyStalled() const;
  bool anyMayRun() const;
  /// True if launches overlapped, which explains all other failures.
  bool anyOverlap();
  /// Reads the waits and launches of the entries, which stay meanwhile.
  std::shared_ptr<const HangReport> readHang();
  /// Prints waits that continue to stderr.
  void warnOfWaits();
  /// Calls check() if `ends`, else warnOfWaits(), on another thread, because a call of CUDA may wait for launches to
  /// end.
  void startReport(bool ends);

  const std::chrono::milliseconds grace_;
  Engine &engine_;
  std::unique_ptr<Hangs> hangs_;
  std::mutex reading_; ///< held while a report is made from the entries; locked before mutex_
  mutable std::mutex mutex_;
  std::vector<WatchedRank> entries_;
  Status failure_;
  std::vector<uint32_t> lostRanks_;       ///< the ranks that were lost at the first failure
  std::atomic<State> state_{State::Well}; ///< changed only with mutex_ held
  bool stopping_ = false;
  std::atomic<bool> isReporting_{false};
  std::optional<OwnThread> reporter_;
  using Clock = std::chrono::steady_clock;
  std::atomic<Clock::rep> lastLaunch_{0};
  std::atomic<bool> isSoon_{false}; ///< the next tick comes soon
  Clock::time_point firstStall_{};  ///< used only by tick(); 0: none
  const std::shared_ptr<Watcher> watcher_ = ofProcess<Watcher>();
  const Watcher::Key key_ = watcher_->add(-1, [this] { return tick(); });
};

class Communicator;
/// Makes the reports of a communicator. The part that explains hangs sets it (../../hangs). `id`: a number that is the
/// same in all processes of the communicator, and different for each communicator.
extern std::unique_ptr<Hangs> (*createHangs)(Communicator &communicator, uint64_t id);

} // namespace mscclc::rt
