#include "communicator/proxy.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace mscclc::rt {
namespace {

/// How long a thread without requests asks again at once before it looks whether a launch runs.
constexpr std::chrono::milliseconds busyTime{2};
constexpr std::chrono::microseconds longestSleep{200};
/// Where graphs may be replayed, of which nobody tells the thread.
constexpr std::chrono::microseconds longestSleepInGraphs{20};
constexpr std::chrono::microseconds forEver = std::chrono::microseconds::max();

} // namespace

Proxy::Proxy(Platform &platform, int32_t device, uint32_t rank, std::string kernel, std::vector<ProxyChannel> channels)
    : platform_(platform), device_(device), rank_(rank), kernel_(std::move(kernel)), channels_(std::move(channels)) {}

Status Proxy::create(Platform &platform, int32_t device, uint32_t rank, std::string kernel,
                     std::vector<ProxyChannel> channels, std::unique_ptr<Proxy> &result) {
  std::unique_ptr<Proxy> proxy(new Proxy(platform, device, rank, std::move(kernel), std::move(channels)));
  void *memory = nullptr;
  MSCCLC_TRY(platform.allocatePinned(sizeof(uint64_t), memory));
  proxy->tail_ = static_cast<uint64_t *>(memory);
  MSCCLC_TRY(platform.allocatePinned(2 * capacity * sizeof(uint64_t), memory));
  proxy->values_ = static_cast<uint64_t *>(memory);
  MSCCLC_TRY(platform.allocatePinned(capacity * sizeof(MscclcTrigger), memory));
  proxy->slots_ = static_cast<MscclcTrigger *>(memory);
  MSCCLC_TRY(platform.createStream(device, true, proxy->stream_));
  for (Event &event : proxy->halves_)
    MSCCLC_TRY(platform.createEvent(device, event));
  MSCCLC_TRY(proxy->warmUp());
  result = std::move(proxy);
  return {};
}

/// A copy within a device may be a kernel of the driver's, one of several by size and alignment. They are loaded by
/// first copies, now: to load one while a kernel waits for the copy might never end.
Status Proxy::warmUp() {
  constexpr uint64_t sizes[] = {1, 8, 100, 4096, uint64_t{1} << 20};
  constexpr uint64_t half = sizes[4] + 16;
  void *memory = nullptr;
  MSCCLC_TRY(platform_.allocate(device_, 2 * half, MemoryKind::Private, {}, memory));
  char *const to = static_cast<char *>(memory), *const from = to + half;
  Status status = platform_.storeInOrder(device_, static_cast<uint64_t *>(memory), values_, stream_);
  for (const uint64_t size : sizes)
    for (const uint64_t shift : {0, 1})
      if (status.ok())
        status = platform_.copyInOrder(device_, to + shift, from, size, stream_);
  if (status.ok())
    status = platform_.synchronize(device_, stream_);
  platform_.release(device_, memory);
  return status;
}

Proxy::~Proxy() {
  if (stream_ != nullptr) {
    static_cast<void>(platform_.synchronize(device_, stream_).ok());
    platform_.destroyStream(device_, stream_);
  }
  for (const Event event : halves_)
    if (event != nullptr)
      platform_.destroyEvent(device_, event);
  if (slots_ != nullptr)
    platform_.releasePinned(slots_);
  if (values_ != nullptr)
    platform_.releasePinned(values_);
  if (tail_ != nullptr)
    platform_.releasePinned(tail_);
}

uint32_t Proxy::addMemory(std::vector<char *> begins, uint64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  memories_[nextMemory_] = {std::move(begins), bytes};
  return nextMemory_++;
}

void Proxy::removeMemory(uint32_t number) {
  const std::lock_guard<std::mutex> lock(mutex_);
  memories_.erase(number);
}

Status Proxy::reset() {
  const std::lock_guard<std::mutex> lock(mutex_);
  MSCCLC_TRY(platform_.synchronize(device_, stream_));
  std::fill(slots_, slots_ + capacity, MscclcTrigger{});
  for (ProxyChannel &channel : channels_)
    channel.signals = channel.flushes = 0;
  next_ = 0;
  __atomic_store_n(tail_, uint64_t{0}, __ATOMIC_RELEASE);
  return {};
}

Proxy::Source Proxy::source() {
  const bool inGraph = graphs_ != nullptr && graphs_->lasts(std::chrono::milliseconds(0));
  const Source otherwise = inGraph ? Source::Graphs : Source::Nowhere;
  if (!platform_.tellsOfEvents())
    return launched_ ? Source::Unknown : otherwise;
  if (!launched_.exchange(false) || !platform_.isPending(device_, done_))
    return otherwise;
  launched_ = true;
  return Source::Launch;
}

Status Proxy::drain() {
  for (bool served = true; served;)
    MSCCLC_TRY(step(served));
  return platform_.synchronize(device_, stream_);
}

Status Proxy::step(bool &served) {
  served = false;
  const std::lock_guard<std::mutex> lock(mutex_);
  // A batch at most, so that the other ranks' proxies get their turn.
  for (uint32_t batch = 0; batch < capacity / 8; ++batch) {
    const MscclcTrigger &slot = slots_[next_ % capacity];
    if (__atomic_load_n(&slot.sequence, __ATOMIC_ACQUIRE) != next_ + 1)
      return {};
    served = true;
    const MscclcTrigger request = slot;
    // Taken, not done: the slot may be filled again while its copy is still on the way.
    MSCCLC_TRY(serve(request));
    ++next_;
    __atomic_store_n(tail_, next_, __ATOMIC_RELEASE);
  }
  return {};
}

char *Proxy::placeOf(uint32_t memory, uint32_t rank, uint64_t offset, uint64_t bytes) const {
  const auto found = memories_.find(memory);
  if (found == memories_.end() || offset > found->second.bytes || bytes > found->second.bytes - offset)
    return nullptr;
  char *const begin = found->second.begins[rank];
  return begin == nullptr ? nullptr : begin + offset;
}

Status Proxy::serve(const MscclcTrigger &request) {
  const auto wrong = [&](const char *why) {
    return failure(MSCCLC_ERROR_KERNEL, "kernel '%s', rank %u, request %llu for port channel %u: %s", kernel_.c_str(),
                   rank_, static_cast<unsigned long long>(next_), request.channel, why);
  };
  if (request.channel >= channels_.size())
    return wrong("no such channel");
  ProxyChannel &channel = channels_[request.channel];

  // The values of a half are overwritten when the copies out of it are done.
  const uint64_t half = capacity / 2;
  if (next_ % half == 0) {
    if (next_ >= half)
      MSCCLC_TRY(platform_.record(device_, halves_[(next_ / half + 1) % 2], stream_));
    if (next_ >= capacity)
      MSCCLC_TRY(platform_.await(device_, halves_[next_ / half % 2]));
  }

  if (request.size != 0) {
    const char *from = placeOf(request.src_memory, rank_, request.src_offset, request.size);
    char *to = placeOf(request.dst_memory, channel.peer, request.dst_offset, request.size);
    if (from == nullptr || to == nullptr)
      return wrong("no such buffer, or outside it");
    MSCCLC_TRY(platform_.copyInOrder(device_, to, from, request.size, stream_));
  }
  if ((request.flags & MSCCLC_TRIGGER_SIGNAL) != 0 && channel.peerInbound != nullptr)
    MSCCLC_TRY(store(channel.peerInbound, ++channel.signals, 0));
  if ((request.flags & MSCCLC_TRIGGER_FLUSH) != 0)
    MSCCLC_TRY(store(channel.flushesDone, ++channel.flushes, 1));
  return {};
}

Status Proxy::store(uint64_t *to, uint64_t value, uint64_t place) {
  uint64_t *from = &values_[next_ % capacity * 2 + place];
  *from = value;
  return platform_.storeInOrder(device_, to, from, stream_);
}

ProxyThread::ProxyThread() : thread_([this] { run(); }) {}

ProxyThread::~ProxyThread() {
  stopping_ = true;
  wake();
  thread_.join();
}

void ProxyThread::wake() {
  if (wake_.exchange(true))
    return;
  {
    const std::lock_guard<std::mutex> lock(sleepMutex_);
  } // it looks, or waits
  woken_.notify_one();
}

void ProxyThread::add(Served served) {
  const std::lock_guard<std::mutex> lock(mutex_);
  served_.push_back(std::move(served));
}

void ProxyThread::remove(Proxy *proxy) {
  const std::lock_guard<std::mutex> lock(mutex_);
  served_.erase(std::remove_if(served_.begin(), served_.end(), [&](const Served &one) { return one.proxy == proxy; }),
                served_.end());
}

bool ProxyThread::stepAll() {
  const std::lock_guard<std::mutex> lock(mutex_);
  bool any = false;
  for (const Served &one : served_) {
    if (one.watch->failed())
      continue;
    bool served = false;
    if (Status status = one.proxy->step(served); !status.ok())
      one.failed(status);
    any |= served;
  }
  return any;
}

Proxy::Source ProxyThread::source() {
  const std::lock_guard<std::mutex> lock(mutex_);
  Proxy::Source most = Proxy::Source::Nowhere;
  for (const Served &one : served_)
    if (most != Proxy::Source::Launch && !one.watch->failed())
      most = std::max(most, one.proxy->source());
  return most;
}

void ProxyThread::sleep(std::chrono::microseconds time) {
  std::unique_lock<std::mutex> lock(sleepMutex_);
  const auto woken = [&] { return wake_.load(); };
  if (time == forEver)
    woken_.wait(lock, woken);
  else
    woken_.wait_for(lock, time, woken);
}

void ProxyThread::run() {
  using Clock = std::chrono::steady_clock;
  auto lastBusy = Clock::now();
  auto pause = std::chrono::microseconds(0);
  bool isOver = false; // when last asked, no requests could come any more
  while (!stopping_) {
    const bool wasWoken = wake_.exchange(false), any = stepAll();
    const auto now = Clock::now();
    if (any || wasWoken) {
      lastBusy = now;
      pause = std::chrono::microseconds(0);
    }
    if (now - lastBusy < busyTime) {
      std::this_thread::yield();
      continue;
    }
    const Proxy::Source from = source();
    // What came before a launch was seen to be over is served before the long sleep.
    const bool wasOver = std::exchange(isOver, from == Proxy::Source::Nowhere);
    switch (from) {
    case Proxy::Source::Launch:
      lastBusy = now;
      pause = std::chrono::microseconds(0);
      continue;
    case Proxy::Source::Nowhere:
      if (wasOver)
        sleep(forEver);
      continue;
    case Proxy::Source::Unknown:
    case Proxy::Source::Graphs:
      pause = std::min(pause + std::chrono::microseconds(5),
                       from == Proxy::Source::Graphs ? longestSleepInGraphs : longestSleep);
      sleep(pause);
      continue;
    }
  }
}

} // namespace mscclc::rt
