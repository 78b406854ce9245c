// Port channels over the network, by NCCL's GIN. If MSCCLC_GIN is defined and NCCL's headers are in the include path, a
// kernel has this body beside the body for the proxy. At each launch, MscclcPortChannel::network says which of the two
// serves a channel.
//
// A signal of NCCL is a counter of the rank that waits: channel c of a rank waits for signal c of that rank. Signals,
// and the data before them, go through one context, which both ends know: c modulo the number of contexts. A put of
// packets needs no signal, because the network writes aligned 8-byte words as a whole.
//
// The proof assumes the following of a port, and NCCL promises it:
// - After a wait for a signal, all earlier puts of the channel have arrived. NCCL promises that a strong signal arrives
// after all earlier puts of its context to the same peer.
// - After a flush, the sources of earlier puts may be overwritten. A flush says nothing about the other end. NCCL's
// flush, and the counter that a put raises, promise no more than this either.
// - Nothing of an aborted launch arrives after a reset. A flush cannot ensure that. So each end sends one more strong
// signal, the settling signal, and a reset waits for the settling signals of the peers. Channel c waits for signal
// `signals` + c. An end without a counterpart at the peer uses the first context, and raises signal 2 * `signals` of
// the peer.
#pragma once

#include <nccl_device.h>

#include <type_traits>

/// The size of the largest put, in bytes. A request of a network card holds less than 2 GiB, and not all of NCCL's
/// transports split longer requests.
#ifndef MSCCLC_GIN_LARGEST_PUT
#define MSCCLC_GIN_LARGEST_PUT (uint64_t{1} << 30)
#endif

/// True for NCCL before 2.32, whose flush has no time limit. Then each put raises a counter when it has left its
/// source, and a flush waits for this counter.
#define MSCCLC_GIN_COUNTS (NCCL_VERSION_CODE < 23200)

namespace mscclc::device::detail {

/// Orders all earlier writes of this block, and all writes of others that it has observed, before later reads by the
/// network.
MSCCLC_DEVICE void fenceNetwork() {
#ifdef __CUDA_ARCH__
  __threadfence_system();
#endif
}

/// Returns the context of a port channel. `channel`: its number at the rank that waits on it.
MSCCLC_DEVICE ncclGin contextOf(const ncclDevComm &comm, uint32_t channel) {
  return ncclGin(comm, static_cast<int>(channel % comm.ginContextCount));
}

/// The sending end of the rank's port channel number `index`.
class NetworkPort {
public:
  MSCCLC_DEVICE NetworkPort(const ncclDevComm &comm, const MscclcPortChannel &channel, uint32_t index)
      : heard_(channel.network != MSCCLC_UNPAIRED), signal_(heard_ ? channel.network - 1 : 0), index_(index),
        asked_(channel.flush_requests), gin_(contextOf(comm, signal_)), world_(ncclTeamWorld(comm)),
        peer_(static_cast<int>(channel.peer)) {}

  /// Does the work of a request, as a proxy would. If the request has a flush, waits for the flush.
  MSCCLC_DEVICE void send(const MscclcRankArgs &args, uint32_t operation, const MscclcTrigger &wanted,
                          const MscclcPlace &from, const MscclcPlace &to) const {
    const bool signals = heard_ && (wanted.flags & MSCCLC_TRIGGER_SIGNAL) != 0;
    fenceNetwork();
    if (wanted.size != 0) {
      const auto target = static_cast<ncclWindow_t>(to.window), source = static_cast<ncclWindow_t>(from.window);
      uint64_t targetAt = beginOf(to, channelPeer()) + wanted.dst_offset,
               sourceAt = beginOf(from, args.rank) + wanted.src_offset, left = wanted.size;
      constexpr uint64_t most = MSCCLC_GIN_LARGEST_PUT;
      for (; left > most; left -= most, targetAt += most, sourceAt += most)
        put(target, targetAt, source, sourceAt, most, ncclGin_None{});
      if (signals)
        put(target, targetAt, source, sourceAt, left, Signal{signal_});
      else
        put(target, targetAt, source, sourceAt, left, ncclGin_None{});
    } else if (signals) {
      gin_.signal(world_, peer_, Signal{signal_});
    }
    if ((wanted.flags & MSCCLC_TRIGGER_FLUSH) != 0)
      awaitSources(args, operation);
  }

  /// Sends `count` settling signals, for which a reset of the peer waits. They arrive after everything that the channel
  /// has sent before. `signals`: the number of signals that each rank has for channels.
  MSCCLC_DEVICE void settle(uint32_t signals, uint64_t count) const {
    for (; count != 0; --count)
      gin_.signal(world_, peer_, Signal{heard_ ? signals + signal_ : 2 * signals});
  }

  /// Waits until the earlier puts of the channel have left their sources. It gives up as all waits do. NCCL's own flush
  /// without a limit would wait for ever if the peer died.
  MSCCLC_DEVICE void awaitSources(const MscclcRankArgs &args, uint32_t operation) const {
#if MSCCLC_GIN_COUNTS
    const uint64_t puts = loadRelaxed(asked_);
    spin(args, {MSCCLC_WAIT_FLUSH, operation, channelPeer(), index_, puts}, [&](uint64_t &seen) {
      seen = gin_.readCounter(index_);
      return seen >= puts;
    });
#else
    const uint64_t flush = fetchAddDevice(asked_, 1) + 1;
    constexpr uint64_t cycles = 1000; // the time limit of one poll
    spin(args, {MSCCLC_WAIT_FLUSH, operation, channelPeer(), index_, flush}, [&](uint64_t &seen) {
      seen = flush - 1;
      return gin_.flush(ncclCoopThread(), cuda::memory_order_acquire, ncclGin_None{}, cycles) == ncclSuccess;
    });
#endif
  }

private:
#if NCCL_VERSION_CODE >= 23005 // in earlier versions all signals are strong
  using Signal = ncclGin_StrongSignalInc;
#else
  using Signal = ncclGin_SignalInc;
#endif

  MSCCLC_DEVICE uint32_t channelPeer() const { return static_cast<uint32_t>(peer_); }
  static MSCCLC_DEVICE uint64_t beginOf(const MscclcPlace &place, uint32_t rank) {
    return place.begins == nullptr ? 0 : place.begins[rank];
  }
  template <class Action>
  MSCCLC_DEVICE void put(ncclWindow_t target, uint64_t targetAt, ncclWindow_t source, uint64_t sourceAt, uint64_t bytes,
                         Action action) const {
#if MSCCLC_GIN_COUNTS
    fetchAddDevice(asked_, 1);
    gin_.put(world_, peer_, target, targetAt, source, sourceAt, bytes, action, ncclGin_CounterInc{index_});
#else
    gin_.put(world_, peer_, target, targetAt, source, sourceAt, bytes, action);
#endif
  }

  const bool heard_;
  const uint32_t signal_;
  const uint32_t index_;
  uint64_t *const asked_; ///< the number of puts with MSCCLC_GIN_COUNTS, otherwise the number of flushes
  const ncclGin gin_;
  const ncclTeam world_;
  const int peer_;
};

/// Waits until signal `signal` of this rank has reached `expected`, for the rank's port channel `index`.
MSCCLC_DEVICE void awaitSignal(const ncclDevComm &comm, const MscclcRankArgs &args, uint32_t operation, uint32_t index,
                               uint32_t peer, uint32_t signal, uint64_t expected) {
  const ncclGin gin = contextOf(comm, index);
  spin(args, {MSCCLC_WAIT_PORT, operation, peer, index, expected}, [&](uint64_t &seen) {
    seen = gin.readSignal(static_cast<ncclGinSignal_t>(signal));
    return seen >= expected;
  });
}

/// Waits for the next signal of this rank's port channel `index`.
template <class K>
MSCCLC_DEVICE void waitNetwork(const K &k, uint32_t operation, uint32_t index, const MscclcPortChannel &channel) {
  const uint64_t expected = loadRelaxed(channel.expected) + 1;
  awaitSignal(k.parameters.network, k.args, operation, index, channel.peer, index, expected);
  storeRelaxed(channel.expected, expected);
  orderAliases<K>();
}

/// Sets the rank's signals to 0: those of its channels, and for new ports also the settling signals.
MSCCLC_DEVICE void clearSignals(const ncclDevComm &comm, const MscclcSettling &settling) {
  const uint32_t count = settling.round == 0 ? 2 * settling.signals + 1 : settling.signals;
  for (uint32_t context = 0; context < comm.ginContextCount; ++context) {
    const ncclGin gin = contextOf(comm, context);
    for (uint32_t signal = 0; signal < count; ++signal)
      gin.resetSignal(signal);
#if MSCCLC_GIN_COUNTS
    for (uint32_t counter = 0; counter < settling.signals; ++counter)
      gin.resetCounter(counter);
#endif
  }
}

/// Does one step of MscclcNetworkBody::settle, with one thread, between launches. Each kernel has its own copy of this.
template <class Plan>
MSCCLC_KERNEL(1, 1)
settleNetwork(MSCCLC_PARAMETERS(ncclDevComm) comm, MSCCLC_PARAMETERS(MscclcRankArgs) given,
              MSCCLC_PARAMETERS(MscclcSettling) settling) {
  if (settling.step == MSCCLC_SETTLE_CLEAR)
    return clearSignals(comm, settling);
  MscclcRankArgs args = given;
  const uint64_t deadline = nanoseconds() + given.timeout_ns;
  // All waits share one limit, so each wait gets the rest of the time. The rest is never 0, because that would mean no
  // limit.
  const auto takeRest = [&] {
    const uint64_t now = nanoseconds();
    args.timeout_ns = now < deadline ? deadline - now : 1;
  };
  for (uint32_t c = 0; c < settling.channels; ++c) {
    const MscclcPortChannel &channel = args.port_channels[c];
    if (channel.network == 0)
      continue;
    const NetworkPort port(comm, channel, c);
    if (settling.step == MSCCLC_SETTLE_SEND) {
      port.settle(settling.signals, settling.round - settling.sent);
      continue;
    }
    takeRest();
    if (channel.network != MSCCLC_UNPAIRED)
      awaitSignal(comm, args, settling.step, c, channel.peer, settling.signals + c, settling.round);
    takeRest();
    port.awaitSources(args, settling.step);
  }
  takeRest();
  if (settling.step == MSCCLC_SETTLE_AWAIT && settling.unpaired != 0)
    awaitSignal(comm, args, settling.step, 0, MSCCLC_UNPAIRED, 2 * settling.signals,
                settling.round * settling.unpaired);
}

} // namespace mscclc::device::detail

namespace mscclc::device::host {

/// Creates the device communicator `made` for `signals` port channels. Returns NCCL's result.
template <class Plan>
int32_t makeNetwork(int (*create)(void *, const void *, void *), void *comm, uint32_t signals, void *made) {
#ifdef NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER
  ncclDevCommRequirements wanted = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
#else
  ncclDevCommRequirements wanted{};
  wanted.ginContextCount = 4;
#endif
#if NCCL_VERSION_CODE >= 22907
  wanted.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
#else
  wanted.ginForceEnable = true;
#endif
#if NCCL_VERSION_CODE >= 23200
  wanted.ginVaSignalsRequired = false;
#endif
  wanted.ginSignalCount = static_cast<int>(2 * signals + 1);
#if MSCCLC_GIN_COUNTS
  wanted.ginCounterCount = static_cast<int>(signals);
#endif
  return create(comm, &wanted, made);
}

template <class Plan> int32_t settleNetwork(const MscclcRankArgs *given, const MscclcSettling *step, void *stream) {
  ncclDevComm comm = *static_cast<const ncclDevComm *>(given->network);
  MscclcRankArgs args = *given;
  MscclcSettling settling = *step;
#ifdef __CUDACC__
  void *parameters[] = {&comm, &args, &settling};
  const cudaError_t result = cudaLaunchKernel(reinterpret_cast<const void *>(detail::settleNetwork<Plan>), dim3(1),
                                              dim3(1), parameters, 0, static_cast<cudaStream_t>(stream));
  return result == cudaSuccess ? MSCCLC_OK : MSCCLC_ERROR_DEVICE + static_cast<int32_t>(result);
#else
  static_cast<standin::Stream *>(stream)->launch(1, 1, [=] { detail::settleNetwork<Plan>(comm, args, settling); });
  return MSCCLC_OK;
#endif
}

/// Returns the description of this body, for a kernel with port channels.
template <class Plan> const MscclcNetworkBody *networkBody() {
  static const MscclcNetworkBody body = {
      NCCL_VERSION_CODE, sizeof(ncclDevComm), &makeNetwork<Plan>,
      [](const void *made) { return static_cast<uint32_t>(static_cast<const ncclDevComm *>(made)->ginContextCount); },
      &settleNetwork<Plan>};
  return &body;
}

} // namespace mscclc::device::host
