#include "communicator/watch.h"

#include <algorithm>

namespace mscclc::rt {
namespace {

constexpr Watcher::Interval pollInterval{1}, longestInterval{256};

/// Returns the time until the next look. It grows with the time since the last launch, so the watch notices a stall of
/// a long launch a little later. Long intervals of all communicators end at the same time.
Watcher::Interval intervalAfter(Watcher::Interval past) {
  const auto part = std::min(past / 16, longestInterval).count();
  Watcher::Interval interval = pollInterval;
  while (interval.count() * 2 <= part)
    interval *= 2;
  if (interval.count() < 16)
    return interval;
  const auto now = std::chrono::duration_cast<Watcher::Interval>(std::chrono::steady_clock::now().time_since_epoch());
  return interval + (interval - now % interval);
}

void setAbort(MscclcStatus *status) {
  __atomic_store_n(&status->abort, 1u, __ATOMIC_RELEASE);
}

/// Removes the stalls that were reported, while the waits themselves continue.
void forgetStalls(MscclcStatus &status) {
  for (MscclcStall &stall : status.stalls)
    __atomic_store_n(&stall.kind, 0u, __ATOMIC_RELAXED);
  __atomic_store_n(&status.reported_blocks, uint64_t{0}, __ATOMIC_RELAXED);
  __atomic_store_n(&status.num_stalls, 0u, __ATOMIC_RELEASE);
}

} // namespace

std::unique_ptr<Hangs> (*createHangs)(Communicator &, uint64_t) = nullptr;

void Watch::stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  watcher_->remove(key_);
  if (reporter_)
    reporter_->join();
  reporter_.reset();
}

void Watch::explainBy(std::unique_ptr<Hangs> hangs) {
  const std::scoped_lock lock(reading_, mutex_);
  hangs_ = std::move(hangs);
}

void Watch::add(WatchedRank rank) {
  const std::lock_guard<std::mutex> lock(mutex_);
  entries_.push_back(std::move(rank));
  if (failed())
    setAbort(entries_.back().status);
}

void Watch::remove(MscclcStatus *status) {
  const std::scoped_lock lock(reading_, mutex_);
  entries_.erase(
      std::remove_if(entries_.begin(), entries_.end(), [&](const WatchedRank &e) { return e.status == status; }),
      entries_.end());
}

void Watch::forgetLaunches(const MscclcStatus *status) {
  const std::scoped_lock lock(reading_, mutex_);
  for (WatchedRank &entry : entries_)
    if (status == nullptr || entry.status == status)
      entry.counters = nullptr;
}

Status Watch::health() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return failure_;
}

bool Watch::fail(const Status &reason) {
  bool haveMet = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    haveMet = hangs_ != nullptr;
  }
  std::vector<uint32_t> lost = haveMet ? engine_.meeting().lostRanks() : std::vector<uint32_t>();
  bool first = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    first = failure_.ok();
    if (first) {
      lostRanks_ = std::move(lost); // processes that are lost later end because of this failure
      failure_ = reason;
    } else if (reason.code == MSCCLC_ERROR_PEER_LOST && failure_.code != MSCCLC_ERROR_PEER_LOST) {
      // A reset cannot undo the loss of a process, so this failure replaces the earlier one. The earlier failure was
      // the cause, so its text is kept.
      failure_ = {reason.code, reason.text + '\n' + failure_.text};
    }
    if (!failed())
      state_.store(State::Failed, std::memory_order_release);
    abortAll();
    if (first || reason.code == MSCCLC_ERROR_PEER_LOST)
      engine_.giveUp();
  }
  watcher_->wake(key_);
  return first;
}

void Watch::abortAll() const {
  for (const WatchedRank &entry : entries_)
    setAbort(entry.status);
}

std::shared_ptr<const HangReport> Watch::readHang() {
  // Copies from a device may take long. Failures are noticed during the copies, because mutex_ is not held.
  const std::lock_guard<std::mutex> reading(reading_);
  std::vector<WatchedRank> entries;
  std::vector<uint32_t> lost;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    lost = lostRanks_;
    entries = entries_;
  }
  return hangs_ ? hangs_->read(entries, lost) : nullptr;
}

void Watch::check() {
  bool isNew = false;
  std::string waits; // text of the waits, made from host memory alone
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    isNew = !failed() && anyAborted();
    if (stopping_ || (state_ != State::Failed && !isNew))
      return;
    state_ = State::Explaining;
    if (hangs_)
      waits = hangs_->explainWaits(entries_);
  }
  // All waits give up before more is read from devices, so no program continues with wrong data.
  const int32_t code = anyOverlap() ? MSCCLC_ERROR_OVERLAP : MSCCLC_ERROR_TIMEOUT;
  const bool isFirst = isNew && fail({code, waits});
  const std::shared_ptr<const HangReport> report = readHang();
  const std::string text = report ? hangs_->explain(*report) : isFirst ? mscclc_error_text(code) : "";
  Status reason;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (isFirst && failure_.code == code)
      failure_.text = text;
    else if (!text.empty())
      failure_.text += '\n' + text;
    reason = failure_;
  }
  if (isFirst)
    engine_.meeting().abort(reason);
  if (report)
    hangs_->dump(*report, reason);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (state_ == State::Explaining) // false if clear() was called meanwhile
    state_ = State::Described;
}

void Watch::warnOfWaits() {
  if (const std::shared_ptr<const HangReport> report = readHang())
    hangs_->warnOf(*report);
  const std::scoped_lock lock(reading_, mutex_);
  for (const WatchedRank &entry : entries_)
    forgetStalls(*entry.status);
}

void Watch::startReport(bool ends) {
  if (isReporting_.exchange(true))
    return;
  if (reporter_)
    reporter_->join(); // does not wait long: the earlier report is complete
  reporter_.emplace([this, ends] {
    if (ends)
      check();
    else
      warnOfWaits();
    isReporting_ = false;
  });
}

void Watch::awaitDescription() const {
  const Clock::time_point end = Clock::now() + 2 * grace_ + std::chrono::milliseconds(100);
  while (failed() && state_ != State::Described && Clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void Watch::look() {
  if (Status status = failed() ? Status{} : engine_.health(); !status.ok() && fail(status))
    engine_.meeting().abort(status);
}

void Watch::clear() {
  const std::lock_guard<std::mutex> lock(mutex_);
  failure_ = {};
  lostRanks_.clear();
  for (const WatchedRank &entry : entries_)
    *entry.status = MscclcStatus{};
  state_ = State::Well;
}

bool Watch::anyAborted() const {
  return std::any_of(entries_.begin(), entries_.end(), [](const WatchedRank &entry) {
    return __atomic_load_n(&entry.status->abort, __ATOMIC_ACQUIRE) != 0;
  });
}

bool Watch::anyStalled() const {
  return std::any_of(entries_.begin(), entries_.end(), [](const WatchedRank &entry) {
    return __atomic_load_n(&entry.status->num_stalls, __ATOMIC_ACQUIRE) != 0;
  });
}

bool Watch::anyOverlap() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::any_of(entries_.begin(), entries_.end(), [](const WatchedRank &entry) {
    return std::any_of(std::begin(entry.status->stalls), std::end(entry.status->stalls), [](const MscclcStall &stall) {
      return __atomic_load_n(&stall.kind, __ATOMIC_ACQUIRE) == MSCCLC_OVERLAP;
    });
  });
}

bool Watch::anyMayRun() const {
  return std::any_of(entries_.begin(), entries_.end(), [](const WatchedRank &entry) { return entry.mayRun(); });
}

void Watch::launched() {
  lastLaunch_ = Clock::now().time_since_epoch().count();
  if (!isSoon_)
    watcher_->wake(key_);
}

Watcher::Interval Watch::tick() {
  isSoon_ = false;
  look();
  const Clock::time_point now = Clock::now();
  const bool overlaps = anyOverlap();
  bool ends = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (stopping_ || state_ == State::Explaining || state_ == State::Described) {
      firstStall_ = {};
      return Watcher::never;
    }
    ends = failed() || anyAborted();
    const bool mayRun = anyMayRun();
    if (!ends && !anyStalled()) {
      const Watcher::Interval next = intervalAfter(
          std::chrono::duration_cast<Watcher::Interval>(now.time_since_epoch() - Clock::duration(lastLaunch_.load())));
      isSoon_ = mayRun && next <= pollInterval;
      return mayRun ? next : Watcher::never;
    }
    // If a wait has given up, all waits of the process give up, and are reported. If waits continue, ranks that wait
    // for each other report their waits at about the same moment. The report comes a short time later, so that it has
    // all of them.
    if (ends)
      abortAll();
    if (firstStall_ == Clock::time_point{})
      firstStall_ = now;
    if (mayRun && !overlaps && now < firstStall_ + grace_) {
      isSoon_ = true;
      return grace_;
    }
    firstStall_ = {};
  }
  startReport(ends);
  return grace_;
}

} // namespace mscclc::rt
