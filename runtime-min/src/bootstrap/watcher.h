// The one thread of a process that watches for all its communicators: it waits until descriptors can be read, and asks
// again and again where somebody wants to be asked. While nobody does, and nothing comes, it sleeps.
#pragma once

#include "bootstrap/file.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <sys/types.h>
#include <thread>

namespace mscclc::rt {

/// The one T of this process, there for as long as somebody has it. A child of fork has one of its own.
template <class T> std::shared_ptr<T> ofProcess() {
  struct Holder {
    const pid_t process = ::getpid();
    std::mutex mutex;
    std::weak_ptr<T> one;
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

class Watcher {
public:
  using Key = uint64_t; ///< of an entry; never 0
  using Interval = std::chrono::milliseconds;
  static constexpr Interval never = Interval::max();

  Watcher();
  ~Watcher();
  Watcher(const Watcher &) = delete;

  /// Calls `readable` whenever `file` can be read or is at its end, until it returns false. Several may watch a file,
  /// which stays open as long.
  Key watch(int file, std::function<bool()> readable);
  /// Calls `ask` when wake() has been called for the entry, and then after the time that it returns, until that is
  /// `never`.
  Key ask(std::function<Interval()> ask);
  /// Asks soon. From any thread.
  void wake(Key key);
  /// The entry is not called any more when this returns; within its own call: after that.
  void remove(Key key);

private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    int file = -1;
    std::function<bool()> readable;
    std::function<Interval()> ask;
    Clock::time_point next = Clock::time_point::max();
  };
  void run();
  int millisecondsToNext();
  void callReadable(int file);
  void callDue();
  /// Calls an entry without the lock, so that nobody removes it meanwhile. `lock` is held before and after.
  template <class Call> void callOne(std::unique_lock<std::mutex> &lock, Key key, Call call);
  void erase(std::map<Key, Entry>::iterator entry);
  void interrupt();

  File epoll_;
  File interrupt_;
  std::mutex mutex_;
  std::condition_variable called_;
  std::map<Key, Entry> entries_;
  std::map<int, unsigned> files_; ///< how many entries watch it
  Key next_ = 1;
  Key calling_ = 0;
  bool stopping_ = false;
  OwnThread thread_;
};

} // namespace mscclc::rt
