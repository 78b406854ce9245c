// What there is once a process. A child of fork has its own.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace mscclc::rt {

/// The one T of this process, there for as long as somebody has it; with `forEver` until the process has ended, when it
/// is not destroyed.
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
    // That of the parent stays: another thread of it may have had its lock.
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

/// A thread of an object that ends with it; in a child of fork there is none.
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
