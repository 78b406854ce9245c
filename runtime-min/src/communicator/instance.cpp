#include "communicator/instance.h"

#include "communicator/sync_layout.h"
#include "kernels/kernel_facts.h"

#include <algorithm>
#include <cstring>

namespace mscclc::rt {
namespace {

/// What every process must load the same.
std::string identityOf(const MscclcKernel &kernel, uint64_t maxMessageBytes) {
  const auto text = [](const char *s) { return s == nullptr ? "" : s; };
  return format("%s\n%s\n%s\n%s\n%llu", text(kernel.name), text(kernel.tool), text(kernel.source),
                text(kernel.switches), static_cast<unsigned long long>(maxMessageBytes));
}

uint64_t *word(char *base, uint64_t offset, uint64_t index) {
  return reinterpret_cast<uint64_t *>(base + offset) + index;
}

constexpr uint32_t hostThreads = 4;
/// More than any memory holds, and little enough to be multiplied.
constexpr uint64_t largestMessage = uint64_t{1} << 48;

} // namespace

Status Instance::create(Communicator &communicator, const MscclcKernel &kernel, uint64_t maxMessageBytes,
                        std::unique_ptr<Instance> &result) {
  MSCCLC_TRY(checkDescription(&kernel));
  MSCCLC_TRY(checkPlatform(kernel, communicator.platform().kind()));
  if (kernel.ranks != communicator.ranks())
    return failure(MSCCLC_ERROR_KERNEL, "kernel '%s' is for %u ranks, the communicator has %u", kernel.name,
                   kernel.ranks, communicator.ranks());
  std::unique_ptr<Instance> instance(new Instance(communicator, kernel));
  MSCCLC_TRY(instance->agree(std::min({maxMessageBytes, kernel.max_message_bytes, largestMessage})));
  uint64_t syncBytes = 0;
  for (uint32_t rank = 0; rank < kernel.ranks; ++rank) {
    MscclcRankInfo info{};
    kernel.rank_info(rank, &info);
    syncBytes = std::max(syncBytes, SyncLayout(info).bytes);
    instance->infos_.push_back(info);
  }
  MSCCLC_TRY(instance->checkReach());
  const std::string name = format("kernel '%s'", kernel.name);
  instance->scratchStride_ = kernel.scratch_stride(instance->maxMessageBytes_);
  const uint64_t scratchBytes = kernel.scratch_bytes(instance->scratchStride_);
  const MemoryKind kind = (kernel.flags & MSCCLC_USES_MULTICAST) != 0 ? MemoryKind::Multicast : MemoryKind::Plain;
  MSCCLC_TRY(Region::allocate(communicator, syncBytes, MemoryKind::Plain, name + ": counters", instance->sync_));
  MSCCLC_TRY(Region::allocate(communicator, scratchBytes, kind, name + ": scratch", instance->scratch_));
  instance->local_.resize(communicator.localRanks());
  for (uint32_t i = 0; i < communicator.localRanks(); ++i)
    MSCCLC_TRY(instance->prepareRank(i));
  // A peer's first signal must not come before these counters are there.
  MSCCLC_TRY(communicator.barrier(name + ": ready"));
  communicator.add(instance.get());
  result = std::move(instance);
  return {};
}

Status Instance::agree(uint64_t maxMessageBytes) {
  maxMessageBytes_ = maxMessageBytes;
  const std::string mine = identityOf(kernel_, maxMessageBytes);
  std::vector<Message> all;
  MSCCLC_TRY(communicator_.rendezvous().exchange(format("load kernel '%s'", kernel_.name),
                                                 Bytes(mine.begin(), mine.end()), {}, all));
  for (const Message &message : all)
    if (std::string(message.bytes.begin(), message.bytes.end()) != mine)
      return failure(MSCCLC_ERROR_RENDEZVOUS,
                     "kernel '%s' differs between the processes (tool, source, switches or largest message)",
                     kernel_.name);
  return {};
}

Status Instance::checkReach() const {
  const auto check = [&](uint32_t localIndex, uint32_t peer) {
    const uint32_t self = communicator_.firstLocalRank() + localIndex;
    if (peer >= kernel_.ranks)
      return failure(MSCCLC_ERROR_KERNEL, "kernel '%s': rank %u names rank %u of %u", kernel_.name, self, peer,
                     kernel_.ranks);
    if (!communicator_.reaches(localIndex, peer))
      return failure(MSCCLC_ERROR_UNSUPPORTED,
                     "kernel '%s': rank %u on device %d cannot access the memory of rank %u on device %d", kernel_.name,
                     self, communicator_.device(localIndex), peer,
                     communicator_.device(peer - communicator_.firstLocalRank()));
    return Status{};
  };
  for (uint32_t i = 0; i < communicator_.localRanks(); ++i) {
    const uint32_t self = communicator_.firstLocalRank() + i;
    const MscclcRankInfo &info = infos_[self];
    for (uint32_t k = 0; k < info.memory_channels; ++k) {
      MscclcChannelInfo channel{};
      kernel_.channel_info(self, MSCCLC_MEMORY, k, &channel);
      MSCCLC_TRY(check(i, channel.peer));
    }
    for (uint32_t k = 0; k < info.remote_buffers; ++k) {
      MscclcRemoteBufferInfo buffer{};
      kernel_.remote_buffer_info(self, k, &buffer);
      if (buffer.via_memory != 0)
        MSCCLC_TRY(check(i, buffer.rank));
    }
    for (uint32_t k = 0; k < info.switch_channels; ++k) {
      MscclcSwitchInfo group{};
      kernel_.switch_info(self, k, &group);
      for (uint32_t member = 0; member < group.size; ++member)
        MSCCLC_TRY(check(i, kernel_.switch_member(self, k, member)));
    }
  }
  return {};
}

char *Instance::syncOf(uint32_t localIndex, uint32_t rank) const {
  return static_cast<char *>(sync_->at(localIndex, rank));
}

Status Instance::prepareRank(uint32_t localIndex) {
  const uint32_t self = communicator_.firstLocalRank() + localIndex;
  const int32_t device = communicator_.device(localIndex);
  const MscclcRankInfo &info = infos_[self];
  const SyncLayout layout(info);
  char *const own = syncOf(localIndex, self);
  Platform &platform = communicator_.platform();
  RankState &state = local_[localIndex];

  std::vector<MscclcChannel> channels;
  for (uint32_t k = 0; k < info.memory_channels; ++k) {
    MscclcChannelInfo paired{};
    kernel_.channel_info(self, MSCCLC_MEMORY, k, &paired);
    MscclcChannel channel{};
    channel.inbound = word(own, layout.memoryInbound, k);
    channel.expected = word(own, layout.memoryExpected, k);
    channel.outbound = word(own, layout.unheard, k);
    if (paired.peer_channel < infos_[paired.peer].memory_channels)
      channel.outbound =
          word(syncOf(localIndex, paired.peer), SyncLayout(infos_[paired.peer]).memoryInbound, paired.peer_channel);
    channel.peer = paired.peer;
    channels.push_back(channel);
  }
  std::vector<ProxyChannel> served;
  for (uint32_t k = 0; k < info.port_channels; ++k) {
    MscclcChannelInfo paired{};
    kernel_.channel_info(self, MSCCLC_PORT, k, &paired);
    if (paired.peer >= kernel_.ranks)
      return failure(MSCCLC_ERROR_KERNEL, "kernel '%s': rank %u names rank %u of %u", kernel_.name, self, paired.peer,
                     kernel_.ranks);
    MscclcChannel channel{};
    channel.inbound = word(own, layout.portInbound, k);
    channel.expected = word(own, layout.portExpected, k);
    channel.flush_requests = word(own, layout.flushRequests, k);
    channel.flushes_done = word(own, layout.flushesDone, k);
    channel.peer = paired.peer;
    channels.push_back(channel);
    ProxyChannel end;
    end.peer = paired.peer;
    end.flushesDone = word(own, layout.flushesDone, k);
    if (paired.peer_channel < infos_[paired.peer].port_channels)
      end.peerInbound =
          word(syncOf(localIndex, paired.peer), SyncLayout(infos_[paired.peer]).portInbound, paired.peer_channel);
    served.push_back(end);
  }

  const uint64_t bytes = channels.size() * sizeof(MscclcChannel);
  if (bytes != 0) {
    void *memory = nullptr;
    MSCCLC_TRY(platform.allocate(device, bytes, MemoryKind::Plain, {}, memory));
    state.channels = static_cast<MscclcChannel *>(memory);
    MSCCLC_TRY(platform.copy(device, memory, channels.data(), bytes));
  }
  MSCCLC_TRY(writeSemaphores(localIndex));
  MSCCLC_TRY(platform.createEvent(device, state.event));
  void *memory = nullptr;
  MSCCLC_TRY(platform.allocatePinned(sizeof(MscclcStatus), memory));
  state.status = static_cast<MscclcStatus *>(memory);
  communicator_.watch().add(state.status, kernel_.name);
  if (!served.empty()) {
    MSCCLC_TRY(Proxy::create(platform, device, self, kernel_.name, std::move(served), state.proxy));
    communicator_.proxies().add(state.proxy.get());
  }
  return {};
}

Status Instance::writeSemaphores(uint32_t localIndex) {
  const uint32_t self = communicator_.firstLocalRank() + localIndex;
  const MscclcRankInfo &info = infos_[self];
  std::vector<uint32_t> values(info.semaphores);
  for (uint32_t k = 0; k < info.semaphores; ++k)
    values[k] = kernel_.semaphore_value(self, k);
  if (values.empty())
    return {};
  return communicator_.platform().copy(communicator_.device(localIndex),
                                       syncOf(localIndex, self) + SyncLayout(info).semaphores, values.data(),
                                       values.size() * sizeof(uint32_t));
}

Instance::~Instance() {
  communicator_.remove(this);
  bindings_.clear();
  for (uint32_t i = 0; i < local_.size(); ++i) {
    RankState &state = local_[i];
    if (state.proxy)
      communicator_.proxies().remove(state.proxy.get());
    if (state.status != nullptr) {
      communicator_.watch().remove(state.status);
      communicator_.platform().releasePinned(state.status);
    }
    if (state.event != nullptr)
      communicator_.platform().destroyEvent(communicator_.device(i), state.event);
    if (state.channels != nullptr)
      communicator_.platform().release(communicator_.device(i), state.channels);
  }
}

void Instance::closeRemote() {
  sync_->closeRemote();
  scratch_->closeRemote();
}

Status Instance::settle() {
  Status first;
  for (uint32_t i = 0; i < local_.size(); ++i) {
    if (!local_[i].launched)
      continue;
    if (Status status = communicator_.platform().await(communicator_.device(i), local_[i].event); first.ok())
      first = std::move(status);
    // The stream is not touched any more; its owner may destroy it.
    local_[i].launched = false;
  }
  return first;
}

void Instance::forget(const Region *region) {
  for (auto entry = bindings_.begin(); entry != bindings_.end();) {
    const bool names = entry->first.input.region == region || entry->first.output.region == region;
    entry = names ? bindings_.erase(entry) : std::next(entry);
  }
}

Status Instance::reset() {
  MSCCLC_TRY(sync_->clear());
  MSCCLC_TRY(scratch_->clear());
  for (uint32_t i = 0; i < local_.size(); ++i) {
    MSCCLC_TRY(writeSemaphores(i));
    if (local_[i].proxy)
      MSCCLC_TRY(local_[i].proxy->reset());
  }
  return {};
}

// ------------------------------------------------------------------------------------------------------- launching

Stream Instance::streamOf(const MscclcCall &call, uint32_t localIndex) const {
  return call.streams != nullptr ? call.streams[localIndex] : communicator_.stream(localIndex);
}

/// Ranks wait for each other, so none may stand after another one in a stream.
Status Instance::checkStreams(const MscclcCall &call) const {
  if (call.streams == nullptr)
    return {};
  const auto wrong = [&](uint32_t localIndex, const char *why) {
    return failure(MSCCLC_ERROR_ARGUMENT, "kernel '%s': the stream of rank %u %s", kernel_.name,
                   communicator_.firstLocalRank() + localIndex, why);
  };
  const bool onHost = communicator_.platform().kind() == MSCCLC_PLATFORM_HOST;
  for (uint32_t i = 0; i < local_.size(); ++i) {
    if (onHost && call.streams[i] == nullptr)
      return wrong(i, "is none");
    for (uint32_t j = 0; j < local_.size(); ++j) {
      if (i == j || communicator_.device(i) != communicator_.device(j))
        continue;
      if (call.streams[i] == call.streams[j])
        return wrong(i, "is that of another rank on its device");
      if (call.streams[i] == nullptr)
        return wrong(i, "is the default one, which waits for the streams of the other ranks on its device");
    }
  }
  return {};
}

Status Instance::bind(const LaunchBuffers &place, const Binding *&binding) {
  std::unique_ptr<Binding> &entry = bindings_[place];
  if (!entry) {
    std::vector<Proxy *> proxies;
    for (const RankState &state : local_)
      proxies.push_back(state.proxy.get());
    if (Status status = Binding::create(communicator_, kernel_, place, *scratch_, proxies, entry); !status.ok()) {
      bindings_.erase(place);
      return status;
    }
  }
  binding = entry.get();
  return {};
}

Status Instance::checkResidency(const MscclcVariant &variant, uint32_t threads) {
  const auto key = std::make_pair(&variant, threads);
  const auto known = residency_.find(key);
  if (known != residency_.end())
    return known->second;
  return residency_[key] = countResidents(variant, threads);
}

/// All ranks of a device wait for each other, so their blocks must be on it at the same time, and beside them what the
/// device needs to copy for their port channels. Asking also loads the kernel, which must not happen when a part of it
/// runs already.
Status Instance::countResidents(const MscclcVariant &variant, uint32_t threads) {
  for (uint32_t i = 0; i < communicator_.localRanks(); ++i) {
    const uint32_t self = communicator_.firstLocalRank() + i;
    uint64_t wanted = 0;
    uint32_t sharing = 0, room = 0;
    for (uint32_t rank = 0; rank < kernel_.ranks; ++rank)
      if (communicator_.deviceId(rank) == communicator_.deviceId(self)) {
        wanted += infos_[rank].blocks;
        ++sharing;
      }
    MSCCLC_TRY(communicator_.platform().use(communicator_.device(i)));
    if (const int32_t code = variant.resident_blocks(threads, &room); code != MSCCLC_OK)
      return kernelFailure(code, kernel_.name, self);
    if (room != MSCCLC_ON_HOST && sharing > 1 && (kernel_.flags & MSCCLC_NEEDS_PORT) != 0) {
      uint32_t processors = 0;
      MSCCLC_TRY(communicator_.platform().countProcessors(communicator_.device(i), processors));
      room -= room / processors;
    }
    if (room != MSCCLC_ON_HOST && wanted > room)
      return failure(MSCCLC_ERROR_NOT_RESIDENT,
                     "kernel '%s': the %llu blocks of %u threads of the %u ranks on device %d wait for each other, and "
                     "%u fit on it at once; use fewer blocks, fewer threads a block or more devices",
                     kernel_.name, static_cast<unsigned long long>(wanted), threads, sharing, communicator_.device(i),
                     room);
  }
  return {};
}

/// Launches of this instance follow each other on each rank. Where ranks share a device, launches of different
/// instances do so over all of its ranks: blocks of two kernels might not fit beside each other.
Status Instance::orderAfterOthers(const MscclcCall &call) {
  Platform &platform = communicator_.platform();
  Instance *const before = communicator_.lastLaunched;
  const bool switches = before != nullptr && before != this && platform.kind() == MSCCLC_PLATFORM_CUDA;
  for (uint32_t i = 0; i < local_.size(); ++i) {
    Stream stream = streamOf(call, i);
    if (platform.capturing(stream))
      continue;
    if (local_[i].launched && local_[i].lastStream != stream)
      MSCCLC_TRY(platform.follow(communicator_.device(i), stream, local_[i].event));
    for (uint32_t j = 0; j < local_.size() && switches; ++j)
      if (j != i && communicator_.device(j) == communicator_.device(i) && before->local_[j].launched)
        MSCCLC_TRY(platform.follow(communicator_.device(i), stream, before->local_[j].event));
  }
  return {};
}

MscclcRankArgs Instance::argsOf(uint32_t localIndex, const MscclcCall &call, const Binding &binding) const {
  const uint32_t self = communicator_.firstLocalRank() + localIndex;
  const MscclcRankInfo &info = infos_[self];
  const SyncLayout layout(info);
  const RankState &state = local_[localIndex];
  char *const own = syncOf(localIndex, self);
  MscclcRankArgs args{};
  args.abi_version = MSCCLC_ABI_VERSION;
  args.rank = self;
  args.flags = binding.isAligned(16) ? MSCCLC_BUFFERS_ALIGNED : 0;
  args.message_bytes = call.message_bytes;
  args.scratch_stride = scratchStride_;
  args.timeout_ns = communicator_.waitTimeoutNs();
  args.buffers = binding.buffers(localIndex);
  args.memory_channels = state.channels;
  args.port_channels = state.channels + info.memory_channels;
  args.multicast = binding.multicast(localIndex);
  args.barriers = word(own, layout.barriers, 0);
  args.semaphores = reinterpret_cast<uint32_t *>(own + layout.semaphores);
  args.launch = reinterpret_cast<MscclcLaunchState *>(own + layout.launch);
  if (state.proxy) {
    args.fifo.slots = binding.slots(localIndex);
    args.fifo.head = word(own, layout.fifoHead, 0);
    args.fifo.tail = state.proxy->tail();
    args.fifo.capacity = Proxy::capacity;
  }
  args.status = state.status;
  return args;
}

Status Instance::start(const MscclcVariant &variant, uint32_t threads, const MscclcCall &call, const Binding &binding,
                       uint32_t localIndex) {
  const uint32_t self = communicator_.firstLocalRank() + localIndex;
  if (infos_[self].blocks == 0)
    return {};
  const MscclcRankArgs args = argsOf(localIndex, call, binding);
  MSCCLC_TRY(communicator_.platform().use(communicator_.device(localIndex)));
  const int32_t code = variant.launch(&args, threads, streamOf(call, localIndex));
  return code == MSCCLC_OK ? Status{} : kernelFailure(code, kernel_.name, self);
}

Status Instance::markLaunched(const MscclcCall &call, uint32_t localIndex) {
  Platform &platform = communicator_.platform();
  RankState &state = local_[localIndex];
  Stream stream = streamOf(call, localIndex);
  if (infos_[communicator_.firstLocalRank() + localIndex].blocks == 0 || platform.capturing(stream))
    return {};
  MSCCLC_TRY(platform.record(communicator_.device(localIndex), state.event, stream));
  state.lastStream = stream;
  state.launched = true;
  return {};
}

Status Instance::launch(const MscclcCall &call, const Region *input, const Region *output) {
  MSCCLC_TRY(communicator_.health());
  MSCCLC_TRY(checkMessage(kernel_, call.message_bytes, call.dtype));
  if (call.message_bytes > maxMessageBytes_)
    return failure(MSCCLC_ERROR_SIZE, "kernel '%s' was loaded for messages of up to %llu bytes, not of %llu",
                   kernel_.name, static_cast<unsigned long long>(maxMessageBytes_),
                   static_cast<unsigned long long>(call.message_bytes));
  const MscclcVariant *variant = findVariant(kernel_, call.dtype, call.reduce_op, call.packet);
  if (variant == nullptr)
    return failure(MSCCLC_ERROR_KERNEL, "kernel '%s' was not compiled for %s, operation %s", kernel_.name,
                   nameOfType(call.dtype), nameOfReduceOp(call.reduce_op));
  uint32_t threads = call.threads;
  if (threads == 0)
    threads = communicator_.platform().kind() == MSCCLC_PLATFORM_HOST ? std::min(kernel_.threads, hostThreads)
                                                                      : kernel_.threads;
  if (threads > kernel_.threads)
    return failure(MSCCLC_ERROR_THREADS, "kernel '%s' takes 1 to %u threads a block, not %u", kernel_.name,
                   kernel_.threads, threads);
  LaunchBuffers place;
  const Binding *binding = nullptr;
  MSCCLC_TRY(resolvePlace(kernel_, call, input, output, place));
  MSCCLC_TRY(checkStreams(call));
  MSCCLC_TRY(checkResidency(*variant, threads));
  MSCCLC_TRY(bind(place, binding));
  if (variant->dtype != MSCCLC_ANY_DTYPE && !binding->isAligned(bytesOfType(call.dtype)))
    return failure(MSCCLC_ERROR_ARGUMENT, "kernel '%s': a buffer or an offset is no multiple of the %u bytes of %s",
                   kernel_.name, bytesOfType(call.dtype), nameOfType(call.dtype));
  MSCCLC_TRY(orderAfterOthers(call));

  // From here on nothing may wait: ranks that run already wait for those that do not run yet. Events come after
  // all of them: where streams share one of the device's queues, an event holds back what comes after it.
  Status status;
  uint32_t started = 0;
  for (uint32_t i = 0; i < local_.size() && status.ok(); ++i) {
    status = start(*variant, threads, call, *binding, i);
    started += status.ok() ? 1 : 0;
  }
  for (uint32_t i = 0; i < started; ++i)
    if (Status recorded = markLaunched(call, i); status.ok())
      status = std::move(recorded);
  if (!status.ok()) {
    // Those that run, here or in other processes, wait for those that do not.
    if (started != 0 || communicator_.processes() > 1)
      communicator_.fail(status);
    return status;
  }
  communicator_.lastLaunched = this;
  return {};
}

} // namespace mscclc::rt
