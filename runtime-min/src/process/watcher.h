// The thread of a process that watches for all communicators of the process (ofProcess). It waits until descriptors can
// be read, and calls some entries repeatedly. If there is nothing to do, it sleeps.
#pragma once

#include "process/file.h"
#include "process/process.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>

namespace mscclc::rt {

class Watcher {
public:
  using Key = uint64_t; ///< key of an entry; never 0
  using Interval = std::chrono::milliseconds;
  static constexpr Interval never = Interval::max(); ///< no call until the file can be read, or until wake()
  static constexpr Interval done = Interval::min();  ///< removes the entry

  Watcher();
  ~Watcher();
  Watcher(const Watcher &) = delete;

  /// Adds an entry. Its function `call` is called when `file` can be read or is at its end (-1: there is no file),
  /// after wake(), and after the interval that its last call returned. Several entries may use one file. The file must
  /// stay open until its entries are removed.
  Key add(int file, std::function<Interval()> call);
  /// Calls the entry soon. May be called from any thread.
  void wake(Key key);
  /// Removes an entry. When this returns, the entry is not called any more. If the entry itself calls this, its current
  /// call is the last one.
  void remove(Key key);

  /// Returns a file that can be read after a process has ended, even if its children still hold its sockets. There is
  /// only one such file for a process, for any number of communicators. Null if the system has no such file.
  std::shared_ptr<const File> endOf(pid_t process);

private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    int file = -1;
    std::function<Interval()> call;
    Clock::time_point next = Clock::time_point::max();
  };
  void run();
  /// Calls an entry without the lock. remove() waits until the call is over. `lock` is held before and after.
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
