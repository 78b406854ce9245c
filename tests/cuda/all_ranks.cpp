#include "all_ranks.h"

#include <cstring>

namespace mscclc::test {

Buffer::Buffer(std::size_t bytes, std::uint8_t fill, std::size_t shift)
    : memory_(bytes + 2 * guard + 128, 0xa5), bytes_(bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.data()) + guard;
  offset_ = guard + (64 - address % 64) % 64 + shift;
  std::fill_n(data(), bytes, fill);
}

bool Buffer::intact() const {
  for (std::size_t i = 0; i < memory_.size(); ++i)
    if ((i < offset_ || i >= offset_ + bytes_) && memory_[i] != 0xa5)
      return false;
  return true;
}

Message::Message(const MscclcKernel &kernel, std::uint64_t size, std::size_t shift) : bytes(size) {
  const bool inPlace = (kernel.flags & MSCCLC_IN_PLACE) != 0;
  const auto allocate = [&](std::uint64_t n) {
    storage.push_back(std::make_unique<Buffer>(n, 0xee, shift));
    return storage.back()->data();
  };
  for (std::uint32_t r = 0; r < kernel.ranks; ++r) {
    inputBytes.push_back(kernel.input_bytes(r, size));
    outputBytes.push_back(kernel.output_bytes(r, size));
    if (!inPlace) {
      input.push_back(allocate(inputBytes[r]));
      output.push_back(allocate(outputBytes[r]));
    } else {
      std::uint8_t *both = allocate(std::max(inputBytes[r], outputBytes[r]));
      input.push_back(both + r * mscclc_input_step(&kernel, size));
      output.push_back(both + r * mscclc_output_step(&kernel, size));
    }
  }
}

bool Message::intact() const {
  return std::all_of(storage.begin(), storage.end(), [](const auto &b) { return b->intact(); });
}

struct AllRanks::Rank {
  MscclcRankInfo info{};
  std::vector<std::uint64_t> memoryInbound, memoryExpected, memorySent, portInbound, portExpected, flushRequests,
      flushesDone;
  std::vector<std::uint64_t> signalsSent; ///< by the proxy, for each port channel
  std::uint64_t nobody = 0;
  std::vector<MscclcMemoryChannel> memoryChannels;
  std::vector<MscclcPortChannel> portChannels;
  std::vector<void *> multicast;
  std::vector<std::uint64_t> barriers;
  std::vector<std::uint32_t> semaphores;
  std::vector<std::uint64_t> launches;
  std::uint64_t finished[4] = {};
  std::uint64_t stagingState[2] = {};
  std::vector<MscclcTrigger> slots;
  std::uint64_t head[2] = {0, 0}, tail = 0;
  MscclcStatus status{};
  std::unique_ptr<Buffer> scratch;
  std::uint32_t number = 0;
  /// The buffers of each launch. The proxy uses those of the last one.
  std::deque<std::vector<MscclcBuffers>> tables;
  std::atomic<const MscclcBuffers *> current{nullptr};
  standin::Stream stream;
  std::thread proxy;
};

AllRanks::AllRanks(const MscclcKernel &kernel, std::uint64_t largest, std::uint64_t timeout)
    : kernel_(kernel), stride_(kernel.scratch_stride(largest, 0)), timeout_(timeout) {
  constexpr std::uint32_t fifoCapacity = 8; // small, so that it fills up
  for (std::uint32_t r = 0; r < kernel.ranks; ++r) {
    ranks_.push_back(std::make_unique<Rank>());
    Rank &rank = *ranks_.back();
    rank.number = r;
    kernel.rank_info(r, &rank.info);
    rank.memoryInbound.resize(rank.info.memory_channels);
    rank.memoryExpected.resize(rank.info.memory_channels);
    rank.memorySent.resize(rank.info.memory_channels);
    for (auto *counters :
         {&rank.portInbound, &rank.portExpected, &rank.flushRequests, &rank.flushesDone, &rank.signalsSent})
      counters->resize(rank.info.port_channels);
    rank.multicast.resize(rank.info.switch_channels);
    rank.barriers.resize(rank.info.barriers);
    rank.launches.resize(rank.info.blocks);
    for (std::uint32_t s = 0; s < rank.info.semaphores; ++s)
      rank.semaphores.push_back(kernel.semaphore_value(r, s));
    rank.slots.resize(fifoCapacity);
    rank.scratch = std::make_unique<Buffer>(kernel.scratch_bytes(stride_));
  }
  for (auto &rank : ranks_) {
    for (std::uint32_t c = 0; c < rank->info.memory_channels; ++c) {
      MscclcChannelInfo end{};
      kernel.channel_info(rank->number, MSCCLC_MEMORY, c, &end);
      std::uint64_t *outbound =
          end.peer_channel == MSCCLC_UNPAIRED ? &rank->nobody : &ranks_[end.peer]->memoryInbound[end.peer_channel];
      // Half of the links do not add.
      const bool stores = (kernel.flags & MSCCLC_SHARED_SIGNALS) == 0 && (rank->number + end.peer) % 2 != 0;
      rank->memoryChannels.push_back({outbound, end.peer, stores ? 1u : 0u});
    }
    for (std::uint32_t c = 0; c < rank->info.port_channels; ++c) {
      MscclcChannelInfo end{};
      kernel.channel_info(rank->number, MSCCLC_PORT, c, &end);
      rank->portChannels.push_back(
          {&rank->portInbound[c], &rank->portExpected[c], &rank->flushRequests[c], &rank->flushesDone[c], end.peer, 0});
    }
    if (rank->info.port_channels != 0)
      rank->proxy = std::thread([this, r = rank.get()] { proxy(*r); });
  }
}

AllRanks::~AllRanks() {
  for (auto &rank : ranks_)
    rank->stream.synchronize();
  stop_ = true;
  for (auto &rank : ranks_)
    if (rank->proxy.joinable())
      rank->proxy.join();
}

/// Does the requested copies, signals and flushes, in order.
void AllRanks::proxy(Rank &rank) {
  // A memory's number is its kind.
  const auto at = [](const MscclcBuffers &b, std::uint32_t kind) {
    return static_cast<char *>(kind == MSCCLC_INPUT ? b.input : kind == MSCCLC_OUTPUT ? b.output : b.scratch);
  };
  while (!stop_) {
    MscclcTrigger &slot = rank.slots[rank.tail % rank.slots.size()];
    if (__atomic_load_n(&slot.sequence, __ATOMIC_ACQUIRE) != rank.tail + 1) {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
      continue;
    }
    const MscclcTrigger t = slot;
    __atomic_store_n(&rank.tail, rank.tail + 1, __ATOMIC_RELEASE);
    const MscclcBuffers *buffers = rank.current.load();
    MscclcChannelInfo end{};
    kernel_.channel_info(rank.number, MSCCLC_PORT, t.channel, &end);
    // Word by word and atomically: packets are read while they arrive.
    const char *from = at(buffers[rank.number], t.src_memory) + t.src_offset;
    char *to = at(buffers[end.peer], t.dst_memory) + t.dst_offset;
    if (reinterpret_cast<std::uintptr_t>(from) % 8 == 0 && reinterpret_cast<std::uintptr_t>(to) % 8 == 0 &&
        t.size % 8 == 0 && (kernel_.flags & MSCCLC_USES_PACKETS) != 0)
      for (std::uint64_t i = 0; i < t.size; i += 8)
        device::detail::storeRelaxed(reinterpret_cast<std::uint64_t *>(to + i),
                                     device::detail::loadRelaxed(reinterpret_cast<const std::uint64_t *>(from + i)));
    else
      std::memcpy(to, from, t.size);
    if ((t.flags & MSCCLC_TRIGGER_SIGNAL) != 0 && end.peer_channel != MSCCLC_UNPAIRED)
      __atomic_store_n(&ranks_[end.peer]->portInbound[end.peer_channel], ++rank.signalsSent[t.channel],
                       __ATOMIC_RELEASE);
    if ((t.flags & MSCCLC_TRIGGER_FLUSH) != 0)
      __atomic_fetch_add(&rank.flushesDone[t.channel], 1, __ATOMIC_RELEASE);
  }
}

void AllRanks::launch(const MscclcVariant &variant, const Message &message, unsigned threads,
                      const std::vector<MscclcStaging> &staging) {
  for (auto &rank : ranks_) {
    rank->tables.emplace_back();
    for (std::uint32_t r = 0; r < kernel_.ranks; ++r)
      rank->tables.back().push_back({message.input[r], message.output[r], ranks_[r]->scratch->data()});
    rank->current = rank->tables.back().data();
    MscclcRankArgs args{};
    args.abi_version = MSCCLC_ABI_VERSION;
    args.rank = rank->number;
    args.flags = MSCCLC_BUFFERS_ALIGNED;
    args.message_bytes = message.bytes;
    args.scratch_stride = stride_;
    args.timeout_ns = timeout_ * 1'000'000'000u;
    args.buffers = rank->tables.back().data();
    for (const MscclcBuffers &b : rank->tables.back())
      if ((reinterpret_cast<std::uintptr_t>(b.input) | reinterpret_cast<std::uintptr_t>(b.output)) % 16 != 0)
        args.flags = 0;
    args.memory_channels = rank->memoryChannels.data();
    args.memory_inbound = rank->memoryInbound.data();
    args.memory_expected = rank->memoryExpected.data();
    args.memory_sent = rank->memorySent.data();
    args.port_channels = rank->portChannels.data();
    args.multicast = rank->multicast.data();
    args.barriers = rank->barriers.data();
    args.semaphores = rank->semaphores.data();
    args.launches = rank->launches.data();
    args.finished = rank->finished;
    args.fifo = {rank->slots.data(), rank->head, &rank->tail, static_cast<std::uint32_t>(rank->slots.size()), 0, {}};
    for (std::uint32_t kind = 0; kind < 3; ++kind)
      args.fifo.places[kind].memory = kind;
    args.status = &rank->status;
    if (!staging.empty())
      args.staging = staging[rank->number];
    args.staging_state = rank->stagingState;
    if (const int code = variant.launch(&args, threads, &rank->stream))
      error_ = "launch of rank " + std::to_string(rank->number) + " failed with code " + std::to_string(code);
  }
}

void AllRanks::synchronize(std::uint32_t rank) {
  ranks_[rank]->stream.synchronize();
}

std::string AllRanks::synchronize() {
  for (auto &rank : ranks_)
    rank->stream.synchronize();
  for (auto &rank : ranks_) {
    if (rank->status.num_stalls != 0) {
      const MscclcStall &s = rank->status.stalls[0];
      error_ += "rank " + std::to_string(s.rank) + ", block " + std::to_string(s.block) + ", operation " +
                std::to_string(s.operation) + ": wait of kind " + std::to_string(s.kind) + " on " +
                std::to_string(s.index) + " of peer " + std::to_string(s.peer) + " wants " +
                std::to_string(s.expected) + ", has " + std::to_string(s.seen) + "\n";
    }
    if (!rank->scratch->intact())
      error_ += "rank " + std::to_string(rank->number) + " wrote past its scratch\n";
  }
  return error_;
}

} // namespace mscclc::test
