#include "communicator/instance.h"

#include "communicator/sync_layout.h"
#include "kernels/kernel_facts.h"

#include <algorithm>

namespace mscclc::rt {
Status Instance::create(Communicator &communicator, const MscclcKernel &kernel, uint64_t maxMessageBytes,
                        uint64_t maxRowBytes, Instance *&result) {
  std::unique_ptr<Instance> instance(new Instance(communicator, kernel));
  MSCCLC_TRY(instance->agree(instance->examine(maxRowBytes), maxMessageBytes, maxRowBytes));
  uint64_t syncBytes = 0;
  for (const MscclcRankInfo &info : instance->infos_)
    syncBytes = std::max(syncBytes, SyncLayout(info).bytes);
  instance->countsAt_ = syncBytes;
  if ((kernel.flags & MSCCLC_TAKES_COUNTS) != 0)
    syncBytes += mscclc_count_table_bytes(&kernel);
  const std::string name = format("kernel '%s'", kernel.name);
  instance->scratchStride_ = kernel.scratch_stride(instance->maxMessageBytes_, instance->maxRowBytes_);
  const uint64_t scratchBytes = kernel.scratch_bytes(instance->scratchStride_);
  const bool multicast = (kernel.flags & MSCCLC_USES_MULTICAST) != 0;
  MSCCLC_TRY(communicator.allocate(name + ": counters", syncBytes, false, instance->sync_));
  MSCCLC_TRY(communicator.allocate(name + ": scratch", scratchBytes, multicast, instance->scratch_));
  MSCCLC_TRY(instance->openPorts());
  instance->local_.resize(communicator.localRanks());
  Status ready;
  for (uint32_t i = 0; i < communicator.localRanks() && ready.ok(); ++i)
    ready = instance->prepareRank(i);
  for (const std::unique_ptr<Ports> &ports : instance->ports_)
    if (ready.ok())
      ready = ports->reset();
  // On all ranks, these counters must exist before a peer sends its first signal.
  std::vector<Message> all;
  MSCCLC_TRY(communicator.meeting().agree(name + ": ready", ready, {}, all));
  result = communicator.add(std::move(instance));
  return {};
}

Status Instance::checkReach() const {
  const auto exists = [&](uint32_t self, uint32_t peer) {
    return peer < kernel_.ranks ? Status{}
                                : failure(MSCCLC_ERROR_KERNEL, "kernel '%s': rank %u names rank %u of %u", kernel_.name,
                                          self, peer, kernel_.ranks);
  };
  const auto check = [&](uint32_t localIndex, uint32_t peer) {
    const uint32_t self = communicator_.firstLocalRank() + localIndex;
    MSCCLC_TRY(exists(self, peer));
    if (!communicator_.reaches(localIndex, peer))
      return failure(MSCCLC_ERROR_UNSUPPORTED,
                     "kernel '%s': rank %u on device %d cannot access the memory of rank %u%s", kernel_.name, self,
                     communicator_.device(localIndex), peer,
                     communicator_.isLocal(peer)
                         ? format(" on device %d", communicator_.device(peer - communicator_.firstLocalRank())).c_str()
                         : "; it is on another node");
    return Status{};
  };
  for (uint32_t i = 0; i < communicator_.localRanks(); ++i) {
    const uint32_t self = communicator_.firstLocalRank() + i;
    const MscclcRankInfo &info = infos_[self];
    const uint32_t together = kernel_.ranks_per_node != 0 ? kernel_.ranks_per_node : kernel_.ranks;
    for (uint32_t k = 0; k < together && (kernel_.flags & MSCCLC_TAKES_COUNTS) != 0; ++k)
      MSCCLC_TRY(check(i, self / together * together + k)); // counts go to all ranks of the node
    for (const MscclcChannelInfo &channel : channelsOf(kernel_, self, MSCCLC_MEMORY))
      MSCCLC_TRY(check(i, channel.peer));
    for (const MscclcChannelInfo &channel : channelsOf(kernel_, self, MSCCLC_PORT)) {
      MSCCLC_TRY(exists(self, channel.peer));
      const bool isNear = communicator_.engine().isNear(channel.peer);
      if (isNear && createProxy == nullptr)
        return failure(MSCCLC_ERROR_UNSUPPORTED,
                       "kernel '%s' has port channels, and this build of the runtime has no thread to serve them",
                       kernel_.name);
      if (!isNear && (kernel_.flags & MSCCLC_NEEDS_PORT) == 0)
        return failure(MSCCLC_ERROR_KERNEL,
                       "kernel '%s': a port channel of rank %u leads to rank %u on another node, and the kernel does "
                       "not say that it needs ports",
                       kernel_.name, self, channel.peer);
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

Status Instance::storesSignals(uint32_t localIndex, uint32_t peer, bool &stores) const {
  const int32_t device = communicator_.device(localIndex);
  RemoteAdd adds = RemoteAdd::Unknown;
  MSCCLC_TRY(communicator_.platform().addsTo(device, communicator_.deviceId(peer), adds));
  const bool shared = (kernel_.flags & MSCCLC_SHARED_SIGNALS) != 0;
  if (adds == RemoteAdd::Broken && shared)
    return failure(MSCCLC_ERROR_UNSUPPORTED,
                   "kernel '%s': several blocks of rank %u signal on one channel to rank %u, and the link from device "
                   "%d has no atomics",
                   kernel_.name, communicator_.firstLocalRank() + localIndex, peer, device);
  stores = adds != RemoteAdd::Whole && !shared;
  return {};
}

Status Instance::addMemoryChannels(uint32_t localIndex, std::vector<MscclcMemoryChannel> &channels) const {
  const uint32_t self = communicator_.firstLocalRank() + localIndex;
  const SyncLayout layout(infos_[self]);
  char *const own = sync_->at(localIndex, self);
  std::map<uint32_t, bool> storing; // by peer
  uint32_t k = 0;
  for (const MscclcChannelInfo &paired : channelsOf(kernel_, self, MSCCLC_MEMORY)) {
    if (storing.count(paired.peer) == 0)
      MSCCLC_TRY(storesSignals(localIndex, paired.peer, storing[paired.peer]));
    MscclcMemoryChannel channel{};
    channel.outbound = counterAt(own, layout.unheard, k);
    if (paired.peer_channel < infos_[paired.peer].memory_channels)
      channel.outbound = counterAt(sync_->at(localIndex, paired.peer), SyncLayout(infos_[paired.peer]).memoryInbound,
                                   paired.peer_channel);
    channel.peer = paired.peer;
    channel.stores = storing[paired.peer] ? 1 : 0;
    channels.push_back(channel);
    ++k;
  }
  return {};
}

Status Instance::openPorts() {
  bool leadsOut = false;
  for (uint32_t i = 0; i < communicator_.localRanks(); ++i)
    for (const MscclcChannelInfo &channel : channelsOf(kernel_, communicator_.firstLocalRank() + i, MSCCLC_PORT))
      leadsOut = leadsOut || !communicator_.engine().isNear(channel.peer);
  std::unique_ptr<Ports> network;
  if ((kernel_.flags & MSCCLC_NEEDS_PORT) != 0)
    MSCCLC_TRY(communicator_.engine().openPorts(kernel_, leadsOut, network));
  if (network)
    ports_.push_back(std::move(network));
  return {};
}

void Instance::addPortChannels(uint32_t localIndex, std::vector<MscclcPortChannel> &channels,
                               std::vector<PortEnd> &ends) const {
  const uint32_t self = communicator_.firstLocalRank() + localIndex;
  const SyncLayout layout(infos_[self]);
  char *const own = sync_->at(localIndex, self);
  uint32_t k = 0;
  for (const MscclcChannelInfo &paired : channelsOf(kernel_, self, MSCCLC_PORT)) {
    MscclcPortChannel channel{};
    channel.inbound = counterAt(own, layout.portInbound, k);
    channel.expected = counterAt(own, layout.portExpected, k);
    channel.flush_requests = counterAt(own, layout.flushRequests, k);
    channel.flushes_done = counterAt(own, layout.flushesDone, k);
    channel.peer = paired.peer;
    const bool isPaired = paired.peer_channel < infos_[paired.peer].port_channels;
    PortEnd end{paired.peer, communicator_.engine().isNear(paired.peer), nullptr,
                counterAt(own, layout.flushesDone, k)};
    if (!end.isNear)
      channel.network = isPaired ? 1 + paired.peer_channel : MSCCLC_UNPAIRED;
    else if (isPaired)
      end.peerInbound = counterAt(sync_->at(localIndex, paired.peer), SyncLayout(infos_[paired.peer]).portInbound,
                                  paired.peer_channel);
    channels.push_back(channel);
    ends.push_back(end);
    ++k;
  }
}

template <class Row> Status Instance::upload(uint32_t localIndex, const std::vector<Row> &table, Row *&onDevice) const {
  const uint64_t bytes = table.size() * sizeof(Row);
  if (bytes == 0)
    return {};
  const int32_t device = communicator_.device(localIndex);
  void *memory = nullptr;
  MSCCLC_TRY(communicator_.platform().allocate(device, bytes, MemoryKind::Private, {}, memory));
  onDevice = static_cast<Row *>(memory);
  return communicator_.platform().copy(device, memory, table.data(), bytes);
}

Status Instance::prepareRank(uint32_t localIndex) {
  const int32_t device = communicator_.device(localIndex);
  Platform &platform = communicator_.platform();
  RankState &state = local_[localIndex];

  MSCCLC_TRY(addMemoryChannels(localIndex, state.memoryChannels));
  if ((kernel_.flags & MSCCLC_CHANNEL_TABLE) != 0)
    MSCCLC_TRY(upload(localIndex, state.memoryChannels, state.channelTable));
  PortRank ports;
  std::vector<MscclcPortChannel> channels;
  addPortChannels(localIndex, channels, ports.ends);
  MSCCLC_TRY(upload(localIndex, channels, state.portChannels));
  for (uint32_t rank = 0; rank < kernel_.ranks && (kernel_.flags & MSCCLC_TAKES_COUNTS) != 0; ++rank)
    state.countTables.push_back(BufferOffsets{sync_.get(), countsAt_, 0}.at(localIndex, rank));
  MSCCLC_TRY(writeSemaphores(localIndex));
  MSCCLC_TRY(platform.createEvent(device, state.event));
  void *memory = nullptr;
  MSCCLC_TRY(platform.allocatePinned(sizeof(MscclcStatus), memory));
  state.status = static_cast<MscclcStatus *>(memory);
  communicator_.watch().add({state.status, &kernel_, [this, localIndex] { return mayRun(localIndex); },
                             localIndex == 0 ? sync_.get() : nullptr});
  ports.stream = communicator_.stream(localIndex);
  ports.done = state.event;
  ports.channels = state.portChannels;
  for (const std::unique_ptr<Ports> &way : ports_)
    MSCCLC_TRY(way->add(localIndex, ports));
  if (std::none_of(ports.ends.begin(), ports.ends.end(), [](const PortEnd &end) { return end.isNear; }))
    return {};
  ports_.emplace_back();
  return createProxy(communicator_, localIndex, kernel_, graphs_, ports, ports_.back());
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
                                       sync_->at(localIndex, self) + SyncLayout(info).semaphores, values.data(),
                                       values.size() * sizeof(uint32_t));
}

Instance::~Instance() {
  ports_.clear();
  for (uint32_t i = 0; i < local_.size(); ++i) {
    RankState &state = local_[i];
    if (state.status != nullptr) {
      communicator_.watch().remove(state.status);
      communicator_.platform().releasePinned(state.status);
    }
    if (state.event != nullptr)
      communicator_.platform().destroyEvent(communicator_.device(i), state.event);
    if (state.channelTable != nullptr)
      communicator_.platform().release(communicator_.device(i), state.channelTable);
    if (state.portChannels != nullptr)
      communicator_.platform().release(communicator_.device(i), state.portChannels);
  }
}

void Instance::disconnect() {
  if (!local_.empty())
    communicator_.watch().forgetLaunches(local_.front().status);
  sync_->disconnect();
  scratch_->disconnect();
}

Status Instance::settle() {
  Status first;
  for (uint32_t i = 0; i < local_.size(); ++i) {
    if (!local_[i].launched)
      continue;
    if (Status status = communicator_.platform().await(communicator_.device(i), local_[i].event); first.ok())
      first = std::move(status);
    // The stream is not used any more, so its owner may destroy it.
    setLaunched(i, false);
    for (const std::unique_ptr<Ports> &ports : ports_)
      ports->settled(i);
  }
  return first;
}

bool Instance::mayRun(uint32_t localIndex) const {
  return __atomic_load_n(&local_[localIndex].launched, __ATOMIC_SEQ_CST) || graphs_.lasts(std::chrono::milliseconds(0));
}

Status Instance::reset() {
  sentBytes_.reset();
  MSCCLC_TRY(communicator_.clear(*sync_));
  MSCCLC_TRY(communicator_.clear(*scratch_));
  for (uint32_t i = 0; i < local_.size(); ++i)
    MSCCLC_TRY(writeSemaphores(i));
  for (const std::unique_ptr<Ports> &ports : ports_)
    MSCCLC_TRY(ports->reset());
  return {};
}

} // namespace mscclc::rt
