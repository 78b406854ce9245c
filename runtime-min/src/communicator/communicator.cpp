#include "communicator/communicator.h"

#include "communicator/instance.h"

#include <algorithm>
#include <cstring>
#include <unistd.h>

namespace mscclc::rt {
namespace {

#ifdef NDEBUG
constexpr uint64_t defaultWaitMs = MSCCLC_NO_TIMEOUT;
#else
constexpr uint64_t defaultWaitMs = 10000;
#endif
constexpr uint64_t defaultReportMs = 30000;
constexpr uint64_t defaultSetupMs = 60000;
/// Ten years, in milliseconds. A longer timeout counts as no limit.
constexpr uint64_t longestMs = uint64_t{10} * 365 * 24 * 3600 * 1000;

/// The description of a rank, which its process sends to all processes.
struct RankCard {
  DeviceFacts device;
  uint32_t platform;
  uint64_t number; ///< this process's number for the communicator; all processes use that of rank 0
};

std::chrono::milliseconds graceOf(uint64_t waitMs) {
  return std::chrono::milliseconds(std::clamp<uint64_t>(waitMs / 4, 1, 200));
}

} // namespace

Status (*createProxy)(Communicator &, uint32_t, const MscclcKernel &, const GraphHold &, const PortRank &,
                      std::unique_ptr<Ports> &) = nullptr;

Status Communicator::create(const MscclcCommunicatorOptions &given, std::unique_ptr<Communicator> &result) {
  MscclcCommunicatorOptions options = given;
  std::unique_ptr<Communicator> communicator(new Communicator());
  if (options.nccl == nullptr) {
    communicator->engine_ = createLocalEngine();
  } else {
    if (createNcclEngine == nullptr)
      return failure(MSCCLC_ERROR_UNSUPPORTED, "this build of the runtime has no engine on NCCL");
    options.rendezvous = nullptr;
    options.allgather = nullptr;
    MSCCLC_TRY(createNcclEngine(options, communicator->engine_));
  }
  communicator->engine_->place(options);
  MSCCLC_TRY(createPlatform(options.platform, communicator->platform_));
  const DeviceGuard guard(*communicator->platform_);
  MSCCLC_TRY(communicator->placeRanks(options));
  if (options.nccl == nullptr)
    MSCCLC_TRY(communicator->connectDevices());
  MSCCLC_TRY(communicator->meet(options));
  for (const int32_t device : communicator->site_.rankDevices) {
    Stream stream = nullptr;
    MSCCLC_TRY(communicator->platform_->createStream(device, false, stream));
    communicator->streams_.push_back(stream);
  }
  result = std::move(communicator);
  return {};
}

Status Communicator::placeRanks(const MscclcCommunicatorOptions &options) {
  const uint32_t ranks = options.ranks, local = options.local_ranks == 0 ? ranks : options.local_ranks,
                 first = options.local_ranks == 0 ? 0 : options.first_local_rank;
  if (ranks == 0 || local > ranks || first > ranks - local)
    return failure(MSCCLC_ERROR_ARGUMENT, "ranks %u to %u cannot be local in a communicator of %u", first,
                   first + local - 1, ranks);
  const bool hasPlace = options.rendezvous != nullptr && options.rendezvous[0] != '\0';
  if (local < ranks && !hasPlace && options.allgather == nullptr && options.nccl == nullptr)
    return failure(MSCCLC_ERROR_ARGUMENT,
                   "%u of %u ranks are here, and there is no rendezvous and no allgather to find the others", local,
                   ranks);
  if (hasPlace && options.allgather != nullptr)
    return failure(MSCCLC_ERROR_ARGUMENT, "the processes meet at '%s' or through an allgather, not both",
                   options.rendezvous);
  int32_t count = 0;
  MSCCLC_TRY(platform_->deviceCount(count));
  for (uint32_t i = 0; i < local; ++i) {
    const auto rank = static_cast<int32_t>(first + i);
    const int32_t device = options.devices != nullptr ? options.devices[i] : count == 0 ? 0 : rank % count;
    if (device < 0 || (count != 0 && device >= count))
      return failure(MSCCLC_ERROR_ARGUMENT, "rank %d: no device %d, there are %d", rank, device, count);
    site_.rankDevices.push_back(device);
  }
  lastLaunched.assign(local, nullptr);
  site_.ranks = ranks;
  site_.mine = {first, local};
  site_.devices = site_.rankDevices;
  std::sort(site_.devices.begin(), site_.devices.end());
  site_.devices.erase(std::unique(site_.devices.begin(), site_.devices.end()), site_.devices.end());
  return {};
}

Status Communicator::connectDevices() {
  for (const int32_t from : site_.devices)
    for (const int32_t to : site_.devices)
      MSCCLC_TRY(platform_->connect(from, to, reaches_[{from, to}]));
  return {};
}

Status Communicator::meet(const MscclcCommunicatorOptions &options) {
  const uint64_t waitMs = options.wait_timeout_ms == 0 ? defaultWaitMs : options.wait_timeout_ms;
  const uint64_t reportMs = options.report_after_ms == 0 ? defaultReportMs : options.report_after_ms;
  reportMs_ = reportMs > UINT32_MAX ? 0 : static_cast<uint32_t>(reportMs);
  waitTimeoutNs_ = waitMs >= longestMs ? 0 : waitMs * 1000000;
  chains_ = options.unchained == 0;
  watch_ = std::make_unique<Watch>(graceOf(waitMs), *engine_);
  const std::chrono::milliseconds timeout(
      options.setup_timeout_ms == 0 ? defaultSetupMs : std::min(options.setup_timeout_ms, longestMs));
  setupTimeoutNs_ = static_cast<uint64_t>(timeout.count()) * 1000000;
  MeetingOptions others;
  others.path = options.rendezvous == nullptr ? "" : options.rendezvous;
  others.allgather = {options.allgather, options.allgather_context, options.process, options.processes};
  others.ranks = ranks();
  others.mine = site_.mine;
  others.timeout = timeout;
  others.failed = [this](const Status &reason) { watch_->fail(reason); };
  MSCCLC_TRY(engine_->meet(*platform_, site_, std::move(others)));
  return introduceRanks();
}

/// Exchanges the facts about the devices of all ranks.
Status Communicator::introduceRanks() {
  // The time distinguishes the communicators of one process. The process number distinguishes the processes of a
  // machine.
  const auto now = static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  const uint64_t number = now ^ static_cast<uint64_t>(::getpid()) << 48;
  uint64_t id = number;
  std::vector<RankCard> cards(localRanks());
  for (uint32_t i = 0; i < localRanks(); ++i) {
    MSCCLC_TRY(platform_->examine(device(i), cards[i].device));
    cards[i].platform = platform_->kind();
    cards[i].number = number;
  }
  std::vector<Message> all;
  MSCCLC_TRY(meeting().exchange("create communicator", bytesOf(cards.data(), cards.size()), all));
  hasMulticast_ = ranks() > 1;
  for (const auto &[bytes, ignored] : all)
    for (size_t at = 0; at + sizeof(RankCard) <= bytes.size(); at += sizeof(RankCard)) {
      RankCard card;
      std::memcpy(&card, bytes.data() + at, sizeof(card));
      if (card.platform != platform_->kind())
        return failure(MSCCLC_ERROR_RENDEZVOUS,
                       "create communicator: some ranks are on CUDA devices, others on the host");
      hasMulticast_ = hasMulticast_ && card.device.hasMulticast != 0;
      if (deviceIds_.empty())
        id = card.number;
      deviceIds_.push_back(card.device.id);
    }
  if (deviceIds_.size() != ranks())
    return failure(MSCCLC_ERROR_RENDEZVOUS, "create communicator: only %zu of %u ranks introduced themselves",
                   deviceIds_.size(), ranks());
  std::vector<DeviceId> distinct = deviceIds_;
  std::sort(distinct.begin(), distinct.end());
  hasMulticast_ = hasMulticast_ && std::adjacent_find(distinct.begin(), distinct.end()) == distinct.end();
  if (createHangs != nullptr)
    watch_->explainBy(createHangs(*this, id));
  return {};
}

bool Communicator::sharesDevice(uint32_t rank) const {
  return std::count(deviceIds_.begin(), deviceIds_.end(), deviceIds_[rank]) > 1;
}

Communicator::Communicator() = default;

Communicator::~Communicator() {
  if (!streams_.empty()) {
    const DeviceGuard guard(*platform_);
    for (size_t i = 0; i < streams_.size(); ++i)
      platform_->destroyStream(device(static_cast<uint32_t>(i)), streams_[i]);
  }
  // The watch calls the engine, and the engine's meeting calls the watch, so both stop before either is destroyed.
  if (watch_)
    watch_->stop();
  if (engine_)
    engine_->endMeeting();
}

bool Communicator::reaches(uint32_t localIndex, uint32_t rank) const {
  if (!engine_->isNear(rank))
    return false;
  // Memory of another process is reachable after it is mapped. NCCL maps the memory of all devices of a team.
  if (!isLocal(rank) || reaches_.empty())
    return true;
  return reaches_.at({device(localIndex), device(rank - firstLocalRank())});
}

void Communicator::fail(const Status &reason) {
  const bool first = watch_->fail(reason);
  engine_->giveUp();
  if (first)
    meeting().abort(reason);
}

void Communicator::leave() {
  meeting().leave();
  if (!engine_->outlasts())
    meeting().awaitLeave();
}

Status Communicator::settle() {
  Status first;
  for (const std::unique_ptr<Instance> &instance : instances_)
    if (Status status = instance->settle(); first.ok())
      first = std::move(status);
  // A device that failed does not answer any more.
  if (!first.ok())
    fail(first);
  watch_->check();
  return first;
}

Status Communicator::drainPorts() {
  for (const std::unique_ptr<Instance> &instance : instances_)
    for (const std::unique_ptr<Ports> &ports : instance->ports())
      if (!watch_->failed())
        MSCCLC_TRY(ports->drain());
  return {};
}

Status Communicator::clear(const Memory &memory) {
  for (uint32_t i = 0; i < localRanks() && memory.bytes() != 0; ++i)
    MSCCLC_TRY(platform_->clear(device(i), memory.at(i, firstLocalRank() + i), memory.bytes()));
  return {};
}

Status Communicator::settlePorts() {
  // All ports send before any port waits, because ranks that share a device may share one of its queues.
  Status sent;
  for (const std::unique_ptr<Instance> &instance : instances_)
    for (const std::unique_ptr<Ports> &ports : instance->ports())
      if (Status status = ports->sendSettling(); sent.ok())
        sent = std::move(status);
  // Half of the set-up timeout: processes that already wait in the next round must not give up earlier.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::nanoseconds(setupTimeoutNs_ / 2);
  for (const std::unique_ptr<Instance> &instance : instances_)
    for (const std::unique_ptr<Ports> &ports : instance->ports())
      if (Status status = sent.ok() ? ports->awaitSettling(deadline) : sent; !status.ok()) {
        const Status lost = health();
        return lost.code == MSCCLC_ERROR_PEER_LOST ? lost : status;
      }
  return sent;
}

Status Communicator::reset() {
  for (const std::unique_ptr<Instance> &instance : instances_)
    for (const std::unique_ptr<Ports> &ports : instance->ports())
      ports->beginSettling();
  if (Status status = health(); status.code == MSCCLC_ERROR_PEER_LOST)
    return status;
  const uint64_t count = instances_.size();
  std::vector<Message> all;
  meeting().alignRounds();
  MSCCLC_TRY(meeting().agree("reset communicator: launches are over", settle(), bytesOf(&count, 1), all));
  for (const Message &theirs : all)
    if (theirs.bytes != bytesOf(&count, 1))
      return failure(MSCCLC_ERROR_RENDEZVOUS, "reset communicator: the processes have not loaded the same kernels");
  MSCCLC_TRY(meeting().agree("reset communicator: nothing is on its way", settlePorts(), {}, all));
  for (const std::unique_ptr<Instance> &instance : instances_)
    MSCCLC_TRY(instance->reset());
  watch_->clear();
  return meeting().exchange("reset communicator: everything is as new", {}, all);
}

void Communicator::removeAll() {
  instances_.clear();
}

Instance *Communicator::add(std::unique_ptr<Instance> instance) {
  instances_.push_back(std::move(instance));
  return instances_.back().get();
}

void Communicator::remove(const Instance *instance) {
  std::replace(lastLaunched.begin(), lastLaunched.end(), instance, static_cast<const Instance *>(nullptr));
  instances_.erase(
      std::find_if(instances_.begin(), instances_.end(), [&](const auto &one) { return one.get() == instance; }));
}

} // namespace mscclc::rt
