#include "communicator/watch.h"

#include <algorithm>

namespace mscclc::rt {
namespace {

constexpr Watcher::Interval pollInterval{1}, longestInterval{256};

/// When to look again, so long after the last launch: what takes long is noticed a little later. Long intervals of all
/// communicators end together.
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

/// What the wait of a stall waits for.
std::string describeWanted(const MscclcStall &stall) {
  const auto index = wide(stall.index);
  const auto expected = wide(stall.expected), seen = wide(stall.seen);
  switch (static_cast<MscclcWaitKind>(stall.kind)) {
  case MSCCLC_WAIT_MEMORY:
  case MSCCLC_WAIT_PORT:
    return format("signal %llu of rank %u on %s channel %llu; %llu came", expected, stall.peer,
                  stall.kind == MSCCLC_WAIT_PORT ? "port" : "memory", index, seen);
  case MSCCLC_WAIT_FLUSH:
    return format("flush %llu of port channel %llu to rank %u; %llu are done", expected, index, stall.peer, seen);
  case MSCCLC_WAIT_FIFO:
    return format(
        "room in the request queue, for request %llu on port channel %llu; there was room for those below %llu",
        expected, index, seen);
  case MSCCLC_WAIT_SEMAPHORE:
    return format("a release of semaphore %llu", index);
  case MSCCLC_WAIT_BARRIER:
    return format("the other blocks at barrier %llu; %llu arrivals of %llu", index, seen, expected);
  case MSCCLC_WAIT_STAGING:
    return format("the other blocks %s; %llu arrivals of %llu",
                  stall.operation == 0 ? "after the copy of the input" : "before the copy of the output", seen,
                  expected);
  case MSCCLC_WAIT_PACKET:
    return format("packet %llu of a chunk of its scratch, with flag %llu", index, expected);
  case MSCCLC_OVERLAP:
    break; // no wait
  }
  return format("something unknown (kind %u)", stall.kind);
}

} // namespace

std::string describeStall(const char *kernel, const MscclcStall &stall) {
  if (stall.kind == MSCCLC_OVERLAP)
    return format("kernel '%s': rank %u, block %u began launch %llu while another launch of the same instance ran; a "
                  "graph's replays are not ordered against other launches by the runtime",
                  kernel, stall.rank, stall.block, wide(stall.index));
  return format("kernel '%s': rank %u, block %u, operation %u waits for %s", kernel, stall.rank, stall.block,
                stall.operation, describeWanted(stall).c_str());
}

void Watch::stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  watcher_->remove(key_);
}

void Watch::add(MscclcStatus *status, const char *kernel, std::function<bool()> mayRun) {
  const std::lock_guard<std::mutex> lock(mutex_);
  entries_.push_back({status, kernel, std::move(mayRun)});
  if (failed_)
    setAbort(status);
}

void Watch::remove(MscclcStatus *status) {
  const std::lock_guard<std::mutex> lock(mutex_);
  entries_.erase(std::remove_if(entries_.begin(), entries_.end(), [&](const Entry &e) { return e.status == status; }),
                 entries_.end());
}

Status Watch::health() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return failure_;
}

bool Watch::fail(const Status &reason) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const bool first = failure_.ok();
  // A lost process outlives a reset, so it takes the place of what a reset would forgive.
  if (first || reason.code == MSCCLC_ERROR_PEER_LOST)
    failure_ = reason;
  failed_.store(true, std::memory_order_release);
  for (const Entry &entry : entries_)
    setAbort(entry.status);
  if (first || reason.code == MSCCLC_ERROR_PEER_LOST)
    engine_.giveUp();
  return first;
}

void Watch::check() {
  Status status;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (stopping_ || failed_ || !anyAborted())
      return;
    status = collect();
  }
  if (fail(status))
    engine_.meeting().abort(status);
}

void Watch::look() {
  if (Status status = failed() ? Status{} : engine_.health(); !status.ok() && fail(status))
    engine_.meeting().abort(status);
}

void Watch::clear() {
  const std::lock_guard<std::mutex> lock(mutex_);
  failure_ = {};
  for (const Entry &entry : entries_)
    *entry.status = MscclcStatus{};
  failed_.store(false, std::memory_order_release);
}

bool Watch::anyAborted() const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const Entry &entry) { return __atomic_load_n(&entry.status->abort, __ATOMIC_ACQUIRE) != 0; });
}

/// Launches that overlapped explain all else.
Status Watch::collect() const {
  Status waits{MSCCLC_ERROR_TIMEOUT, ""}, overlaps{MSCCLC_ERROR_OVERLAP, ""};
  for (const Entry &entry : entries_) {
    const uint32_t claimed = __atomic_load_n(&entry.status->num_stalls, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < std::min(claimed, MSCCLC_MAX_STALLS); ++i) {
      const MscclcStall &stall = entry.status->stalls[i];
      const uint32_t kind = __atomic_load_n(&stall.kind, __ATOMIC_ACQUIRE);
      if (kind == 0)
        continue;
      std::string &text = (kind == MSCCLC_OVERLAP ? overlaps : waits).text;
      if (!text.empty())
        text += '\n';
      text += describeStall(entry.kernel, stall);
    }
    if (claimed > MSCCLC_MAX_STALLS)
      waits.text += format("\nkernel '%s': %u more waits", entry.kernel, claimed - MSCCLC_MAX_STALLS);
  }
  return overlaps.text.empty() ? waits : overlaps;
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
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (stopping_ || failed_) {
      firstStall_ = {};
      return Watcher::never;
    }
    if (!anyAborted()) {
      const bool mayRun =
          std::any_of(entries_.begin(), entries_.end(), [](const Entry &entry) { return entry.mayRun(); });
      const Watcher::Interval next = intervalAfter(
          std::chrono::duration_cast<Watcher::Interval>(now.time_since_epoch() - Clock::duration(lastLaunch_.load())));
      isSoon_ = mayRun && next <= pollInterval;
      return mayRun ? next : Watcher::never;
    }
    // The ranks that wait for each other run out of time at about the same moment.
    if (firstStall_ == Clock::time_point{})
      firstStall_ = now;
    if (now < firstStall_ + grace_) {
      isSoon_ = true;
      return grace_;
    }
    firstStall_ = {};
  }
  check();
  return Watcher::never;
}

} // namespace mscclc::rt
