#include "communicator/watch.h"

#include <algorithm>

namespace mscclc::rt {
namespace {

constexpr std::chrono::milliseconds pollInterval{1};

void setAbort(MscclcStatus *status) {
  __atomic_store_n(&status->abort, 1u, __ATOMIC_RELEASE);
}

/// What the wait of a stall waits for.
std::string describeWanted(const MscclcStall &stall) {
  const auto index = static_cast<unsigned long long>(stall.index);
  const auto expected = static_cast<unsigned long long>(stall.expected),
             seen = static_cast<unsigned long long>(stall.seen);
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
  }
  return format("something unknown (kind %u)", stall.kind);
}

} // namespace

std::string describeStall(const char *kernel, const MscclcStall &stall) {
  return format("kernel '%s': rank %u, block %u, operation %u waits for %s", kernel, stall.rank, stall.block,
                stall.operation, describeWanted(stall).c_str());
}

Watch::Watch(std::chrono::milliseconds grace, std::function<void(const Status &)> stalled, std::function<Status()> ask)
    : grace_(grace), stalled_(std::move(stalled)), ask_(std::move(ask)), thread_([this] { run(); }) {}

Watch::~Watch() {
  stop();
}

void Watch::stop() {
  if (!thread_.joinable())
    return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Watch::add(MscclcStatus *status, const char *kernel) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    entries_.push_back({status, kernel});
    if (failed_)
      setAbort(status);
  }
  wake_.notify_all();
}

void Watch::remove(MscclcStatus *status) {
  const std::lock_guard<std::mutex> lock(mutex_);
  entries_.erase(std::remove_if(entries_.begin(), entries_.end(), [&](const Entry &e) { return e.status == status; }),
                 entries_.end());
}

void Watch::addSettling(MscclcStatus *status) {
  const std::lock_guard<std::mutex> lock(mutex_);
  settling_.push_back(status);
}

void Watch::removeSettling(MscclcStatus *status) {
  const std::lock_guard<std::mutex> lock(mutex_);
  settling_.erase(std::remove(settling_.begin(), settling_.end(), status), settling_.end());
}

void Watch::giveUpSettling() {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::for_each(settling_.begin(), settling_.end(), setAbort);
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
    std::for_each(settling_.begin(), settling_.end(), setAbort);
  return first;
}

void Watch::check() {
  Status status;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (stopping_ || failed_ || !anyAborted())
      return;
    status = {MSCCLC_ERROR_TIMEOUT, collect()};
  }
  if (fail(status))
    stalled_(status);
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

std::string Watch::collect() const {
  std::string text;
  for (const Entry &entry : entries_) {
    const uint32_t claimed = __atomic_load_n(&entry.status->num_stalls, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < std::min(claimed, MSCCLC_MAX_STALLS); ++i) {
      if (__atomic_load_n(&entry.status->stalls[i].kind, __ATOMIC_ACQUIRE) == 0)
        continue;
      if (!text.empty())
        text += '\n';
      text += describeStall(entry.kernel, entry.status->stalls[i]);
    }
    if (claimed > MSCCLC_MAX_STALLS)
      text += format("\nkernel '%s': %u more waits", entry.kernel, claimed - MSCCLC_MAX_STALLS);
  }
  return text;
}

void Watch::run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stopping_) {
    if (entries_.empty() || failed_) {
      wake_.wait_for(lock, std::chrono::milliseconds(50));
      continue;
    }
    wake_.wait_for(lock, pollInterval);
    if (stopping_ || failed_)
      continue;
    lock.unlock();
    if (Status status = ask_(); !status.ok() && fail(status))
      stalled_(status);
    lock.lock();
    if (stopping_ || failed_ || !anyAborted())
      continue;
    // The ranks that wait for each other run out of time at about the same moment.
    wake_.wait_for(lock, grace_, [&] { return stopping_; });
    lock.unlock();
    check();
    lock.lock();
  }
}

} // namespace mscclc::rt
