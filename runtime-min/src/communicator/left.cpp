#include "communicator/left.h"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <vector>

namespace mscclc::rt {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds shortestPause{1}, longestPause{250};

struct Left {
  const Communicator *communicator;
  std::shared_ptr<const void> owner;
  Clock::time_point deadline; ///< of the wait at the process's exit

  Rendezvous::Others others() const { return communicator->engine().meeting().others(); }
};

/// Of a process. Its thread is there while there is anything to keep.
class Keeper {
public:
  void add(Left left) {
    const std::lock_guard<std::mutex> lock(mutex_);
    left_.push_back(std::move(left));
    if (isRunning_) {
      changed_.notify_all();
      return;
    }
    if (thread_.joinable())
      thread_.join(); // it has nothing to do any more
    isRunning_ = true;
    thread_ = std::thread([this] { run(); });
  }

  /// At the process's exit.
  void finish() {
    std::unique_lock<std::mutex> lock(mutex_);
    Clock::time_point deadline = Clock::now();
    for (const Left &left : left_)
      deadline = std::max(deadline, left.deadline);
    changed_.wait_until(lock, deadline, [&] { return !isRunning_; });
    isStopping_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !isRunning_; });
    lock.unlock();
    if (thread_.joinable())
      thread_.join();
  }

private:
  void run() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (auto pause = shortestPause; !left_.empty() && !isStopping_;) {
      const auto over = std::find_if(left_.begin(), left_.end(),
                                     [](const Left &left) { return left.others() != Rendezvous::Others::Here; });
      if (over == left_.end()) {
        changed_.wait_for(lock, pause);
        pause = std::min(pause * 2, longestPause);
        continue;
      }
      std::shared_ptr<const void> owner = std::move(over->owner);
      if (over->others() == Rendezvous::Others::Unknown)
        forEver_.push_back(std::move(owner));
      left_.erase(over);
      pause = shortestPause;
      lock.unlock();
      owner.reset();
      lock.lock();
    }
    // finish() joins the thread. std::notify_all_at_thread_exit will not do: at the process's exit the C++ library has
    // ended before finish() what it needs for that, and the lock would never be released.
    isRunning_ = false;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Left> left_;
  std::vector<std::shared_ptr<const void>> forEver_; ///< of which nobody will say that they may end
  bool isRunning_ = false, isStopping_ = false;
  std::thread thread_;
};

} // namespace

void keepUntilAllLeft(const Communicator &communicator, std::shared_ptr<const void> owner) {
  // What is still there at the process's exit ends with it. A child of fork, which has this handler too, keeps nothing.
  [[maybe_unused]] static const int atExit = std::atexit([] { ofProcess<Keeper>(/*forEver=*/true)->finish(); });
  ofProcess<Keeper>(/*forEver=*/true)
      ->add({&communicator, std::move(owner), Clock::now() + std::chrono::nanoseconds(communicator.setupTimeoutNs())});
}

} // namespace mscclc::rt
