// The watch notices the timeout of a wait in a kernel. Then it makes the waits of all ranks give up, and reports the
// waits of each rank. It looks while launches are in flight, on the process's watching thread (../process/watcher.h).
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
  /// Returns whether a launch may still run: nobody has waited for it, or a graph holds it. Called by another thread.
  /// The function must not call the device, because such a call may wait for a thread that waits for a launch.
  std::function<bool()> mayRun;
  /// The counters of the instance, which count the launches of all ranks. Set for one local rank of an instance; null
  /// for its other ranks.
  const Memory *counters;
};

/// A report of launches that hang.
struct HangReport;

/// Explains launches that hang. The implementation is a separate part (../../hangs). Without it, errors only name the
/// timeout.
class Hangs {
public:
  virtual ~Hangs() = default;
  /// Describes the waits of these ranks, from host memory alone.
  virtual std::string explainWaits(const std::vector<WatchedRank> &ranks) const = 0;
  /// Reads the waits of these ranks, and the numbers of launches of all ranks except for the `lost` ones. May wait for
  /// the device.
  virtual std::shared_ptr<const HangReport> read(const std::vector<WatchedRank> &ranks,
                                                 const std::vector<uint32_t> &lost) const = 0;
  virtual std::string explain(const HangReport &report) const = 0;
  /// Writes the report of a failure to the file of MSCCLC_DUMP.
  virtual void dump(const HangReport &report, const Status &reason) const = 0;
  /// Prints a line about waits that continue, and writes them to the file of MSCCLC_DUMP.
  virtual void warnOf(const HangReport &report) const = 0;
};

class Watch {
public:
  /// `grace`: the time that other ranks have to report their stalls after the first stall. While launches run, another
  /// thread asks `engine` for its health again and again. The engine informs the other processes of each failure that
  /// begins here. It gives up its waits at the first failure, and when a process is lost.
  Watch(std::chrono::milliseconds grace, Engine &engine) : grace_(grace), engine_(engine) {}
  ~Watch() { stop(); }
  /// Stops the watch. When this returns, the engine is not asked any more.
  void stop();

  /// Sets the object that explains hangs. Called when the processes have met. Null: hangs are not explained.
  void explainBy(std::unique_ptr<Hangs> hangs);

  void add(WatchedRank rank);
  /// Stops watching a rank. Returns when no report about it is being written.
  void remove(MscclcStatus *status);
  /// Stops reading the numbers of launches of the rank with `status`, because the memory of other ranks is released.
  /// Null: of all ranks.
  void forgetLaunches(const MscclcStatus *status);
  /// Called after a launch of a watched rank has begun or was captured. Its `mayRun` already returns true.
  void launched();

  /// Returns the first failure, if there is one. May be called from any thread.
  Status health() const;
  bool failed() const { return state_.load(std::memory_order_acquire) != State::Well; }
  /// Makes all waits give up. Keeps the first failure. Returns true if this is the first one.
  bool fail(const Status &reason);
  /// Looks for waits that have given up, and fails if there are any. After a failure, adds to its text the waits that
  /// it has ended, and their causes.
  void check();
  /// After a failure, waits a short time for the result of check().
  void awaitDescription() const;
  /// Checks now whether the engine has a failure, whether launches run or not.
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
  /// Reads the waits and the numbers of launches of the entries. No entry is removed meanwhile.
  std::shared_ptr<const HangReport> readHang();
  /// Reports the waits that continue, on stderr.
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
  Clock::time_point firstStall_{};  ///< time of the first stall, used only by tick(); 0: none
  const std::shared_ptr<Watcher> watcher_ = ofProcess<Watcher>();
  const Watcher::Key key_ = watcher_->add(-1, [this] { return tick(); });
};

class Communicator;
/// Makes the object that explains a communicator's hangs. `id`: a number that is the same in all processes of the
/// communicator, and different for each communicator. The function is set by ../../hangs; null if that is not part of
/// the library.
extern std::unique_ptr<Hangs> (*createHangs)(Communicator &communicator, uint64_t id);

} // namespace mscclc::rt
