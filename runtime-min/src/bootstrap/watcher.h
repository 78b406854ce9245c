// The one thread of a process that watches for all its communicators (ofProcess): it waits until descriptors can be
// read, and calls again and again whoever wants to be asked. While nobody does, and nothing comes, it sleeps.
#pragma once

#include "bootstrap/file.h"
#include "bootstrap/process.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>

namespace mscclc::rt {

class Watcher {
public:
  using Key = uint64_t; ///< of an entry; never 0
  using Interval = std::chrono::milliseconds;
  static constexpr Interval never = Interval::max(); ///< only when the file can be read, or after wake()
  static constexpr Interval done = Interval::min();  ///< the entry is removed

  Watcher();
  ~Watcher();
  Watcher(const Watcher &) = delete;

  /// Calls `call` whenever `file` can be read or is at its end (-1: there is no file), after wake(), and when the time
  /// has passed that it returned. Several entries may have one file, which stays open as long.
  Key add(int file, std::function<Interval()> call);
  /// Calls the entry soon. From any thread.
  void wake(Key key);
  /// The entry is not called any more when this returns; within its own call: after that.
  void remove(Key key);

  /// Can be read once a process has ended, also while its children hold its sockets. One for each process, however
  /// many communicators it is in. Null where the system has no such descriptor.
  std::shared_ptr<const File> endOf(pid_t process);

private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    int file = -1;
    std::function<Interval()> call;
    Clock::time_point next = Clock::time_point::max();
  };
  void run();
  /// Calls an entry without the lock, so that nobody removes it meanwhile. `lock` is held before and after.
  void call(std::unique_lock<std::mutex> &lock, Key key);
  void interrupt();

  File interrupt_;
  std::mutex mutex_;
  std::condition_variable called_;
  std::map<Key, Entry> entries_;
  std::map<pid_t, std::weak_ptr<const File>> ends_;
  Key next_ = 1;
  Key calling_ = 0;
  bool stopping_ = false;
  OwnThread thread_;
};

} // namespace mscclc::rt
