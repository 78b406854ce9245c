#include "process/watcher.h"

#include <algorithm>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <vector>

namespace mscclc::rt {
namespace {

/// Calls pidfd_open(2), which Linux has from 5.3 on.
File openProcess([[maybe_unused]] pid_t process) {
#ifdef SYS_pidfd_open
  return File(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
#else
  return {};
#endif
}

bool isReadable(const File &file) {
  pollfd entry{file.get(), POLLIN, 0};
  return ::poll(&entry, 1, 0) != 0;
}

} // namespace

Watcher::Watcher() : interrupt_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), thread_([this] { run(); }) {}

Watcher::~Watcher() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  interrupt();
  thread_.join();
}

void Watcher::interrupt() {
  const uint64_t one = 1;
  // This fails only if the counter is full, and then the thread is awake.
  static_cast<void>(::write(interrupt_.get(), &one, sizeof(one)) == sizeof(one));
}

Watcher::Key Watcher::add(int file, std::function<Interval()> call) {
  const std::lock_guard<std::mutex> lock(mutex_);
  entries_[next_] = {file, std::move(call), Clock::time_point::max()};
  interrupt();
  return next_++;
}

void Watcher::wake(Key key) {
  const Clock::time_point now = Clock::now();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end() || found->second.next <= now)
      return;
    found->second.next = now;
  }
  interrupt();
}

void Watcher::remove(Key key) {
  std::unique_lock<std::mutex> lock(mutex_);
  entries_.erase(key);
  if (!thread_.isCurrent())
    called_.wait(lock, [&] { return calling_ != key; });
}

std::shared_ptr<const File> Watcher::endOf(pid_t process) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::weak_ptr<const File> &known = ends_[process];
  // Process numbers are reused, so the file may belong to an ended process.
  if (std::shared_ptr<const File> file = known.lock(); file && !isReadable(*file))
    return file;
  auto made = std::make_shared<const File>(openProcess(process));
  if (!made->valid())
    return nullptr;
  known = made;
  return made;
}

void Watcher::call(std::unique_lock<std::mutex> &lock, Key key) {
  const auto found = entries_.find(key);
  if (found == entries_.end())
    return;
  // This is set before the call, so that a wake during the call is not lost.
  found->second.next = Clock::time_point::max();
  const std::function<Interval()> call = found->second.call;
  calling_ = key;
  lock.unlock();
  const Interval interval = call();
  lock.lock();
  calling_ = 0;
  called_.notify_all();
  const auto again = entries_.find(key);
  if (again == entries_.end() || interval == never)
    return;
  if (interval == done)
    entries_.erase(again);
  else
    again->second.next = std::min(again->second.next, Clock::now() + interval);
}

void Watcher::run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stopping_) {
    std::vector<pollfd> files{{interrupt_.get(), POLLIN, 0}};
    std::vector<Key> keys{0}, due;
    Clock::time_point next = Clock::time_point::max();
    for (const auto &[key, entry] : entries_) {
      files.push_back({entry.file, POLLIN, 0});
      keys.push_back(key);
      next = std::min(next, entry.next);
    }
    lock.unlock();
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
    ::poll(files.data(), files.size(),
           next == Clock::time_point::max() ? -1 : static_cast<int>(std::clamp<long long>(left, 0, 1000)));
    uint64_t times = 0;
    static_cast<void>(::read(interrupt_.get(), &times, sizeof(times)) == sizeof(times));
    lock.lock();
    const Clock::time_point now = Clock::now();
    for (size_t i = 1; i < keys.size(); ++i) {
      const auto found = entries_.find(keys[i]);
      if (found != entries_.end() && (files[i].revents != 0 || found->second.next <= now))
        due.push_back(keys[i]);
    }
    for (const Key key : due)
      call(lock, key);
  }
}

} // namespace mscclc::rt
