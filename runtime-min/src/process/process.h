// Objects that exist once in a process. A child of fork has its own objects.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace mscclc::rt {

/// Returns the single T of this process. It exists as long as somebody has a reference. With `forEver` it exists until
/// the process ends, and is never destroyed.
template <class T> std::shared_ptr<T> ofProcess(bool forEver = false) {
  struct Holder {
    const pid_t process = ::getpid();
    std::mutex mutex;
    std::weak_ptr<T> one;
    std::shared_ptr<T> kept;
  };
  static std::atomic<Holder *> current{nullptr};
  Holder *holder = current.load();
  if (holder == nullptr || holder->process != ::getpid()) {
    // In a child of fork, the parent's holder is not used again, and not deleted: another thread of the parent may have
    // held its lock at the fork.
    auto *const made = new Holder;
    if (current.compare_exchange_strong(holder, made))
      holder = made;
    else
      delete made;
  }
  const std::lock_guard<std::mutex> lock(holder->mutex);
  std::shared_ptr<T> one = holder->one.lock();
  if (!one)
    holder->one = one = std::make_shared<T>();
  if (forEver)
    holder->kept = one;
  return one;
}

/// A thread, which its owner must join. A child of fork does not have the thread, and join() does not wait there.
class OwnThread {
public:
  template <class Run> explicit OwnThread(Run run) : thread_(std::move(run)) {}
  void join() {
    if (process_ == ::getpid())
      thread_.join();
    else
      thread_.detach();
  }
  bool isCurrent() const { return std::this_thread::get_id() == thread_.get_id(); }

private:
  const pid_t process_ = ::getpid();
  std::thread thread_;
};

} // namespace mscclc::rt
