#include "proxy.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace mscclc::rt {
namespace {

/// The thread polls without a pause until there were no requests for this time. Then it checks whether a launch runs.
constexpr std::chrono::milliseconds busyTime{2};
constexpr std::chrono::microseconds longestSleep{200};
/// The longest sleep if graphs may be replayed. The thread is not woken by replays.
constexpr std::chrono::microseconds longestSleepInGraphs{20};
constexpr std::chrono::microseconds forEver = std::chrono::microseconds::max();

} // namespace

Proxy::Proxy(Communicator &communicator, uint32_t localIndex, const MscclcKernel &kernel, const GraphHold &graphs,
             const PortRank &rank)
    : communicator_(communicator), platform_(communicator.platform()), localIndex_(localIndex),
      device_(communicator.device(localIndex)), kernel_(kernel), graphs_(graphs), rank_(rank),
      counts_(rank_.ends.size()) {}

Status Proxy::create(Communicator &communicator, uint32_t localIndex, const MscclcKernel &kernel,
                     const GraphHold &graphs, const PortRank &rank, std::unique_ptr<Ports> &ports) {
  std::unique_ptr<Proxy> proxy(new Proxy(communicator, localIndex, kernel, graphs, rank));
  MSCCLC_TRY(proxy->open());
  proxy->thread_->add(proxy.get());
  ports = std::move(proxy);
  return {};
}

Status Proxy::open() {
  void *memory = nullptr;
  MSCCLC_TRY(platform_.allocatePinned(sizeof(Queue), memory));
  queue_ = static_cast<Queue *>(memory);
  MSCCLC_TRY(platform_.createStream(device_, true, stream_));
  for (Event &event : halves_)
    MSCCLC_TRY(platform_.createEvent(device_, event));
  return warmUp();
}

/// The driver may copy within a device by one of several kernels, depending on size and alignment. First copies load
/// these kernels now. If a kernel is loaded while another one waits for its copy, the loading might never end.
Status Proxy::warmUp() {
  constexpr uint64_t sizes[] = {1, 8, 100, 4096, uint64_t{1} << 20};
  constexpr uint64_t half = sizes[4] + 16;
  void *memory = nullptr;
  MSCCLC_TRY(platform_.allocate(device_, 2 * half, MemoryKind::Private, {}, memory));
  char *const to = static_cast<char *>(memory), *const from = to + half;
  Status status = platform_.storeInOrder(device_, static_cast<uint64_t *>(memory), queue_->values, stream_);
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
  thread_->remove(this);
  if (stream_ != nullptr) {
    static_cast<void>(platform_.synchronize(device_, stream_).ok());
    platform_.destroyStream(device_, stream_);
  }
  for (const Event event : halves_)
    if (event != nullptr)
      platform_.destroyEvent(device_, event);
  if (queue_ != nullptr)
    platform_.releasePinned(queue_);
}

uint32_t Proxy::numberOf(const Memory *memory) {
  const auto found = numbers_.find(memory);
  if (found != numbers_.end())
    return found->second;
  Known known{{}, memory == nullptr ? 0 : memory->bytes()};
  for (uint32_t rank = 0; rank < communicator_.ranks(); ++rank)
    known.begins.push_back(memory == nullptr ? nullptr : memory->at(localIndex_, rank));
  const std::lock_guard<std::mutex> lock(mutex_);
  memories_[nextMemory_] = std::move(known);
  return numbers_[memory] = nextMemory_++;
}

void Proxy::forget(const Memory *memory) {
  const auto found = numbers_.find(memory);
  if (found == numbers_.end())
    return;
  const std::lock_guard<std::mutex> lock(mutex_);
  memories_.erase(found->second);
  numbers_.erase(found);
}

void Proxy::fill(uint32_t localIndex, const Memory *const (&memories)[4], MscclcRankArgs &args) {
  if (localIndex != localIndex_)
    return;
  args.fifo.slots = queue_->slots;
  args.fifo.tail = &queue_->tail;
  args.fifo.capacity = capacity;
  for (size_t kind = 0; kind < 4; ++kind)
    args.fifo.places[kind].memory = numberOf(memories[kind]);
}

Status Proxy::reset() {
  const std::lock_guard<std::mutex> lock(mutex_);
  MSCCLC_TRY(platform_.synchronize(device_, stream_));
  std::fill(queue_->slots, queue_->slots + capacity, MscclcTrigger{});
  counts_.assign(counts_.size(), {});
  next_ = 0;
  __atomic_store_n(&queue_->tail, uint64_t{0}, __ATOMIC_RELEASE);
  return {};
}

RequestSource Proxy::source() {
  const RequestSource otherwise =
      graphs_.lasts(std::chrono::milliseconds(0)) ? RequestSource::Graphs : RequestSource::Nowhere;
  if (!platform_.tellsOfEvents())
    return launched_ ? RequestSource::Unknown : otherwise;
  if (!launched_.exchange(false) || !platform_.isPending(device_, rank_.done))
    return otherwise;
  launched_ = true;
  return RequestSource::Launch;
}

Status Proxy::drain() {
  for (bool served = true; served;)
    MSCCLC_TRY(step(served));
  return platform_.synchronize(device_, stream_);
}

Status Proxy::step(bool &served) {
  served = false;
  const std::lock_guard<std::mutex> lock(mutex_);
  // One step serves at most a batch of requests, so that the proxies of other ranks get their turn.
  for (uint32_t batch = 0; batch < capacity / 8; ++batch) {
    const MscclcTrigger &slot = queue_->slots[next_ % capacity];
    if (__atomic_load_n(&slot.sequence, __ATOMIC_ACQUIRE) != next_ + 1)
      return {};
    served = true;
    const MscclcTrigger request = slot;
    // When a request has been taken, its slot may be filled again, even if its copy is still in flight.
    MSCCLC_TRY(serve(request));
    ++next_;
    __atomic_store_n(&queue_->tail, next_, __ATOMIC_RELEASE);
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
  const uint32_t self = communicator_.firstLocalRank() + localIndex_;
  const auto wrong = [&](const char *why) {
    return failure(MSCCLC_ERROR_KERNEL, "kernel '%s', rank %u, request %llu for port channel %u: %s", kernel_.name,
                   self, wide(next_), request.channel, why);
  };
  if (request.channel >= counts_.size())
    return wrong("no such channel");
  const PortEnd &end = rank_.ends[request.channel];
  Counts &counts = counts_[request.channel];

  // The values of a half may be overwritten only after the copies from this half are done.
  const uint64_t half = capacity / 2;
  if (next_ % half == 0) {
    if (next_ >= half)
      MSCCLC_TRY(platform_.record(device_, halves_[(next_ / half + 1) % 2], stream_));
    if (next_ >= capacity)
      MSCCLC_TRY(platform_.await(device_, halves_[next_ / half % 2]));
  }

  if (request.size != 0) {
    const char *from = placeOf(request.src_memory, self, request.src_offset, request.size);
    char *to = placeOf(request.dst_memory, end.peer, request.dst_offset, request.size);
    if (from == nullptr || to == nullptr)
      return wrong("there is no such buffer, or it ends before this");
    MSCCLC_TRY(platform_.copyInOrder(device_, to, from, request.size, stream_));
  }
  if ((request.flags & MSCCLC_TRIGGER_SIGNAL) != 0 && end.peerInbound != nullptr)
    MSCCLC_TRY(store(end.peerInbound, ++counts.signals, 0));
  if ((request.flags & MSCCLC_TRIGGER_FLUSH) != 0)
    MSCCLC_TRY(store(end.flushesDone, ++counts.flushes, 1));
  return {};
}

Status Proxy::store(uint64_t *to, uint64_t value, uint64_t place) {
  uint64_t *from = &queue_->values[next_ % capacity * 2 + place];
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
  } // now the thread polls, or waits for `woken_`
  woken_.notify_one();
}

void ProxyThread::add(Proxy *proxy) {
  const std::lock_guard<std::mutex> lock(mutex_);
  served_.push_back(proxy);
}

void ProxyThread::remove(Proxy *proxy) {
  const std::lock_guard<std::mutex> lock(mutex_);
  served_.erase(std::remove(served_.begin(), served_.end(), proxy), served_.end());
}

bool ProxyThread::stepAll() {
  const std::lock_guard<std::mutex> lock(mutex_);
  bool any = false;
  for (Proxy *const proxy : served_) {
    if (!proxy->isWell())
      continue;
    bool served = false;
    if (Status status = proxy->step(served); !status.ok())
      proxy->fail(status);
    any |= served;
  }
  return any;
}

RequestSource ProxyThread::source() {
  const std::lock_guard<std::mutex> lock(mutex_);
  RequestSource most = RequestSource::Nowhere;
  for (Proxy *const proxy : served_)
    if (most != RequestSource::Launch && proxy->isWell())
      most = std::max(most, proxy->source());
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
  bool isOver = false; // true: at the last check, no more requests could come
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
    const RequestSource from = source();
    // Requests that came before the end of a launch was seen are served before the long sleep.
    const bool wasOver = std::exchange(isOver, from == RequestSource::Nowhere);
    switch (from) {
    case RequestSource::Launch:
      lastBusy = now;
      pause = std::chrono::microseconds(0);
      continue;
    case RequestSource::Nowhere:
      if (wasOver)
        sleep(forEver);
      continue;
    case RequestSource::Unknown:
    case RequestSource::Graphs:
      pause = std::min(pause + std::chrono::microseconds(5),
                       from == RequestSource::Graphs ? longestSleepInGraphs : longestSleep);
      sleep(pause);
      continue;
    }
  }
}

namespace {

[[maybe_unused]] const bool isKnown = [] {
  createProxy = Proxy::create;
  return true;
}();

} // namespace

} // namespace mscclc::rt
