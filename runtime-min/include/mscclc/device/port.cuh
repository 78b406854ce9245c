// Port channels. A request goes to the rank's proxy, which copies data and signals for it. A request of a channel over
// the network goes to NCCL (gin.cuh). Each channel is served by one thread.
#pragma once

namespace mscclc::device {

/// The action after a port put.
enum class Then : uint8_t { Nothing, Signal, SignalAndFlush };

namespace detail {

/// Puts a request into the queue of the proxy. Waits while the queue is full.
template <class K> MSCCLC_DEVICE void request(const K &k, uint32_t operation, const MscclcTrigger &wanted) {
  const MscclcFifo &fifo = k.args.fifo;
  const uint64_t number = fetchAddDevice(fifo.head, 1);
  // The host's memory is read only if the tail that was seen last leaves no room.
  uint64_t *const lastSeen = fifo.head + 1;
  if (number >= loadAcquireDevice(lastSeen) + fifo.capacity) {
    bool room = false;
    spin(k.args, {MSCCLC_WAIT_FIFO, operation, MSCCLC_UNPAIRED, wanted.channel, number}, [&](uint64_t &seen) {
      const uint64_t tail = loadAcquire(fifo.tail);
      seen = tail + fifo.capacity;
      room = number < seen;
      if (room)
        storeRelease(lastSeen, tail);
      return room;
    });
    if (!room)
      return;
  }
  MscclcTrigger *slot = &fifo.slots[number & (fifo.capacity - 1)];
  slot->size = wanted.size;
  slot->src_offset = wanted.src_offset;
  slot->dst_offset = wanted.dst_offset;
  slot->channel = wanted.channel;
  slot->src_memory = wanted.src_memory;
  slot->dst_memory = wanted.dst_memory;
  slot->flags = wanted.flags;
  storeRelease(&slot->sequence, number + 1);
}

/// Counts a flush of a channel, and returns its number. The caller must send the request for it.
MSCCLC_DEVICE uint64_t countFlush(const MscclcPortChannel &channel) {
  const uint64_t wanted = loadRelaxed(channel.flush_requests) + 1;
  storeRelaxed(channel.flush_requests, wanted);
  return wanted;
}
template <class K>
MSCCLC_DEVICE void awaitFlush(const K &k, uint32_t operation, int index, const MscclcPortChannel &channel,
                              uint64_t wanted) {
  const uint64_t *const done = channel.flushes_done;
  spin(k.args, {MSCCLC_WAIT_FLUSH, operation, channel.peer, static_cast<uint64_t>(index), wanted}, [&](uint64_t &seen) {
    seen = loadAcquire(done);
    return seen >= wanted;
  });
}

/// Sends a request. If the request has a flush, waits for the flush. `from` and `to` are the kinds of the buffers that
/// the request copies from and to (MscclcBufferKind).
template <class K>
MSCCLC_DEVICE void send(const K &k, uint32_t operation, const MscclcTrigger &wanted, unsigned from, unsigned to) {
  const MscclcPortChannel &channel = k.args.port_channels[wanted.channel];
#ifdef MSCCLC_GIN
  if (channel.network != 0) {
    const MscclcPlace *const places = k.args.fifo.places;
    NetworkPort(k.parameters.network, channel, wanted.channel)
        .send(k.args, operation, wanted, places[from], places[to]);
    return;
  }
#endif
  const bool flushes = (wanted.flags & MSCCLC_TRIGGER_FLUSH) != 0;
  const uint64_t flush = flushes ? countFlush(channel) : 0;
  static_cast<void>(from);
  static_cast<void>(to);
  request(k, operation, wanted);
  if (flushes)
    awaitFlush(k, operation, static_cast<int>(wanted.channel), channel, flush);
}

/// Returns a request on `channel` that does nothing.
MSCCLC_DEVICE MscclcTrigger emptyTrigger(int channel) {
  MscclcTrigger t;
  t.size = t.src_offset = t.dst_offset = 0;
  t.channel = static_cast<uint32_t>(channel);
  t.src_memory = t.dst_memory = t.flags = 0;
  return t;
}

template <class K, class From>
MSCCLC_DEVICE void sendToNodes(const K &k, const From &from, const char *to, uint64_t bytes) {
  using Plan = typename K::Plan;
  const char *const table = static_cast<const char *>(k.parameters.tables[k.rank]);
  const uint64_t begin = k.args.fifo.places[MSCCLC_COUNT_TABLES].offset;
  syncBlock();
  for (uint32_t i = k.thread; i < otherNodes<Plan>; i += k.threads) {
    const uint32_t own = static_cast<uint32_t>(k.rank) / ranksPerNode<Plan>;
    MscclcTrigger t = emptyTrigger(static_cast<int>(k.parameters.countChannel + i));
    t.src_memory = t.dst_memory = k.args.fifo.places[MSCCLC_COUNT_TABLES].memory;
    t.size = bytes;
    t.src_offset = begin + static_cast<uint64_t>(from(i < own ? i : i + 1) - table);
    t.dst_offset = begin + static_cast<uint64_t>(to - table);
    send(k, 0, t, MSCCLC_COUNT_TABLES, MSCCLC_COUNT_TABLES);
  }
}

} // namespace detail

/// Signals on port channels.
template <class K, class L> MSCCLC_DEVICE void portSignal(const K &k, uint32_t operation, const L &channels) {
  detail::forOnes(k, L::size, [&](unsigned i) {
    MscclcTrigger t = detail::emptyTrigger(channels(i));
    t.flags = MSCCLC_TRIGGER_SIGNAL;
    detail::send(k, operation, t, MSCCLC_INPUT, MSCCLC_INPUT);
  });
}

/// Waits on port channels.
template <class K, class L> MSCCLC_DEVICE void portWait(const K &k, uint32_t operation, const L &channels) {
  detail::forOnes(k, L::size, [&](unsigned i) {
    const int c = channels(i);
    const MscclcPortChannel &channel = k.args.port_channels[c];
#ifdef MSCCLC_GIN
    if (channel.network != 0) {
      detail::waitNetwork(k, operation, static_cast<uint32_t>(c), channel);
      return;
    }
#endif
    detail::waitSignal(k, {MSCCLC_WAIT_PORT, operation, channel.peer, static_cast<uint64_t>(c), 0}, channel.inbound,
                       channel.expected);
  });
}

/// Waits until all earlier puts of each channel have left their source.
template <class K, class L> MSCCLC_DEVICE void portFlush(const K &k, uint32_t operation, const L &channels) {
  detail::forOnes(k, L::size, [&](unsigned i) {
    MscclcTrigger t = detail::emptyTrigger(channels(i));
    t.flags = MSCCLC_TRIGGER_FLUSH;
    detail::send(k, operation, t, MSCCLC_INPUT, MSCCLC_INPUT);
  });
}

/// Puts source chunk i to target chunk i, at the peer of channel i. Rows that are adjacent at both ends become one
/// request.
template <Then Next, class K, class C, class S, class D>
MSCCLC_DEVICE void portPut(const K &k, uint32_t operation, const Slice &slice, const C &channels, const S &sources,
                           const D &targets) {
  detail::forOnes(k, C::size, [&](unsigned i) {
    const int c = channels(i);
    const MscclcPortChannel &channel = k.args.port_channels[c];
    const Rows source = sources(S::size == 1 ? 0 : i);
    Rows target = targets(i);
    target.owner = static_cast<int>(channel.peer);
    const unsigned scale =
        (source.layout == OperandLayout::Packets ? 2 : 1) * (source.layout == OperandLayout::Data ? 1 : K::spread);
    MscclcTrigger t = detail::emptyTrigger(c);
    const MscclcPlace &sourcePlace = k.args.fifo.places[source.buffer],
                      &targetPlace = k.args.fifo.places[target.buffer];
    t.src_memory = sourcePlace.memory;
    t.dst_memory = targetPlace.memory;
    const uint64_t sourceAt = sourcePlace.offset + k.args.rank * sourcePlace.rank_step,
                   targetAt = targetPlace.offset + channel.peer * targetPlace.rank_step;
    for (unsigned row = 0; row < slice.rows; ++row) {
      const uint64_t at = row * slice.nominal;
      if (slice.end <= at || slice.begin >= at + slice.nominal)
        continue;
      const uint64_t begin = slice.begin > at ? slice.begin - at : 0;
      uint64_t end = slice.end - at < slice.nominal ? slice.end - at : slice.nominal;
      const Extent read = k.extentOf(source, row), written = k.extentOf(target, row);
      end = end < read.bytes ? end : read.bytes;
      end = end < written.bytes ? end : written.bytes;
      if (begin >= end)
        continue;
      const uint64_t from = sourceAt + read.begin + begin * scale, to = targetAt + written.begin + begin * scale;
      if (t.size != 0 && (t.src_offset + t.size != from || t.dst_offset + t.size != to)) {
        detail::send(k, operation, t, source.buffer, target.buffer);
        t.size = 0;
      }
      if (t.size == 0) {
        t.src_offset = from;
        t.dst_offset = to;
      }
      t.size += (end - begin) * scale;
    }
    if (Next == Then::Signal || Next == Then::SignalAndFlush)
      t.flags |= MSCCLC_TRIGGER_SIGNAL;
    if (Next == Then::SignalAndFlush)
      t.flags |= MSCCLC_TRIGGER_FLUSH;
    if (t.size != 0 || t.flags != 0)
      detail::send(k, operation, t, source.buffer, target.buffer);
  });
}

/// Waits until packets have arrived, without using their payload.
template <class K, class S>
MSCCLC_DEVICE void awaitPackets(const K &k, uint32_t operation, const Slice &slice, const S &source) {
  detail::packetRows<NoReduce>(k, operation, slice, detail::None{}, source, detail::None{}, detail::None{});
}

} // namespace mscclc::device
