#include "communicator/left.h"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>

namespace mscclc::rt {
namespace {

using Clock = std::chrono::steady_clock;

/// Keeps communicators that the program has destroyed. There is one Keeper in a process. For each communicator, a
/// thread waits until the other processes have left.
class Keeper {
public:
  /// Keeps `owner`, which owns `communicator`. At the process's exit, the wait for other processes ends at `deadline`.
  void add(const Communicator &communicator, std::shared_ptr<const void> owner, Clock::time_point deadline) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++waiting_;
    deadline_ = std::max(deadline_, deadline);
    std::thread([this, &communicator, owner = std::move(owner)]() mutable {
      end(communicator.engine().meeting().awaitOthers(), std::move(owner));
    }).detach();
  }

  /// Waits for the other processes. Called at the process's exit.
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
      new std::shared_ptr<const void>(std::move(owner)); // never freed: other processes may still use it
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
  // Communicators that are still kept at the process's exit end with the process. A child of fork inherits this
  // handler, but its Keeper is empty.
  [[maybe_unused]] static const int atExit = std::atexit([] { ofProcess<Keeper>(/*forEver=*/true)->finish(); });
  ofProcess<Keeper>(/*forEver=*/true)
      ->add(communicator, std::move(owner), Clock::now() + std::chrono::nanoseconds(communicator.setupTimeoutNs()));
}

} // namespace mscclc::rt
