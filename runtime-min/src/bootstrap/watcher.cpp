#include "bootstrap/watcher.h"

#include <algorithm>
#include <array>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <vector>

namespace mscclc::rt {

Watcher::Watcher()
    : epoll_(::epoll_create1(EPOLL_CLOEXEC)), interrupt_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { run(); }) {}

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
  static_cast<void>(::write(interrupt_.get(), &one, sizeof(one)) == sizeof(one)); // full: it is awake
}

Watcher::Key Watcher::watch(int file, std::function<bool()> readable) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Key key = next_++;
  entries_[key].file = file;
  entries_[key].readable = std::move(readable);
  if (files_[file]++ == 0) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = file;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, file, &event);
  }
  return key;
}

Watcher::Key Watcher::ask(std::function<Interval()> ask) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Key key = next_++;
  entries_[key].ask = std::move(ask);
  return key;
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

void Watcher::erase(std::map<Key, Entry>::iterator entry) {
  const int file = entry->second.file;
  entries_.erase(entry);
  if (file < 0 || --files_[file] != 0)
    return;
  files_.erase(file);
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, file, nullptr);
}

void Watcher::remove(Key key) {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end())
    return;
  erase(found);
  if (!thread_.isCurrent())
    called_.wait(lock, [&] { return calling_ != key; });
}

template <class Call> void Watcher::callOne(std::unique_lock<std::mutex> &lock, Key key, Call call) {
  calling_ = key;
  lock.unlock();
  call();
  lock.lock();
  calling_ = 0;
  called_.notify_all();
}

void Watcher::callReadable(int file) {
  std::unique_lock<std::mutex> lock(mutex_);
  std::vector<Key> keys;
  for (const auto &[key, entry] : entries_)
    if (entry.file == file)
      keys.push_back(key);
  for (const Key key : keys) {
    const auto found = entries_.find(key);
    if (found == entries_.end())
      continue;
    const std::function<bool()> readable = found->second.readable;
    bool stays = true;
    callOne(lock, key, [&] { stays = readable(); });
    if (const auto again = entries_.find(key); again != entries_.end() && !stays)
      erase(again);
  }
}

void Watcher::callDue() {
  std::unique_lock<std::mutex> lock(mutex_);
  const Clock::time_point now = Clock::now();
  std::vector<Key> keys;
  for (const auto &[key, entry] : entries_)
    if (entry.next <= now)
      keys.push_back(key);
  for (const Key key : keys) {
    const auto found = entries_.find(key);
    if (found == entries_.end())
      continue;
    // Who wakes it from here on is heard.
    found->second.next = Clock::time_point::max();
    const std::function<Interval()> ask = found->second.ask;
    Interval interval = never;
    callOne(lock, key, [&] { interval = ask(); });
    if (const auto again = entries_.find(key); again != entries_.end() && interval != never)
      again->second.next = std::min(again->second.next, Clock::now() + interval);
  }
}

int Watcher::millisecondsToNext() {
  const std::lock_guard<std::mutex> lock(mutex_);
  Clock::time_point next = Clock::time_point::max();
  for (const auto &[key, entry] : entries_)
    next = std::min(next, entry.next);
  if (next == Clock::time_point::max())
    return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, 1000));
}

void Watcher::run() {
  epoll_event interrupted{};
  interrupted.events = EPOLLIN;
  interrupted.data.fd = interrupt_.get();
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, interrupt_.get(), &interrupted);
  for (;;) {
    std::array<epoll_event, 16> events;
    const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), millisecondsToNext());
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (stopping_)
        return;
    }
    for (int i = 0; i < count; ++i)
      if (events[static_cast<size_t>(i)].data.fd == interrupt_.get()) {
        uint64_t times = 0;
        static_cast<void>(::read(interrupt_.get(), &times, sizeof(times)) == sizeof(times));
      } else {
        callReadable(events[static_cast<size_t>(i)].data.fd);
      }
    callDue();
  }
}

} // namespace mscclc::rt
