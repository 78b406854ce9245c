#include "communicator/left.h"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>

namespace mscclc::rt {
namespace {

using Clock = std::chrono::steady_clock;

/// Keeps communicators that the program has destroyed, one Keeper in a process. For each of them, a thread waits for
/// the other processes.
class Keeper {
public:
  /// `deadline`: the time at which the wait at the process's exit ends.
  void add(const Communicator &communicator, std::shared_ptr<const void> owner, Clock::time_point deadline) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++waiting_;
    deadline_ = std::max(deadline_, deadline);
    std::thread([this, &communicator, owner = std::move(owner)]() mutable {
      end(communicator.engine().meeting().awaitOthers(), std::move(owner));
    }).detach();
  }

  /// Called at the process's exit.
  void finish() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_until(lock, deadline_, [&] { return waiting_ == 0; });
    isOver_ = true;
    changed_.wait(lock, [&] { return releasing_ == 0; });
  }

private:
  void end(Meeting::Others others, std::shared_ptr<const void> owner) {
    std::unique_lock<std::mutex> lock(mutex_);
    --waiting_;
    if (isOver_ || others == Meeting::Others::Unknown) {
      new std::shared_ptr<const void>(std::move(owner)); // nobody will say that it may end
    } else {
      ++releasing_;
      lock.unlock();
      owner.reset();
      lock.lock();
      --releasing_;
    }
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  uint32_t waiting_ = 0, releasing_ = 0;
  bool isOver_ = false;
  Clock::time_point deadline_{};
};

} // namespace

void keepUntilAllLeft(const Communicator &communicator, std::shared_ptr<const void> owner) {
  // Objects that still exist at the process's exit end with it. A child of fork, which inherits this handler, keeps
  // nothing.
  [[maybe_unused]] static const int atExit = std::atexit([] { ofProcess<Keeper>(/*forEver=*/true)->finish(); });
  ofProcess<Keeper>(/*forEver=*/true)
      ->add(communicator, std::move(owner), Clock::now() + std::chrono::nanoseconds(communicator.setupTimeoutNs()));
}

} // namespace mscclc::rt
