// Port channels over the network, by NCCL's GIN. With MSCCLC_GIN defined and NCCL's headers in the include path, a
// kernel has this body beside the proxy's; at a launch each channel says which of them serves it.
//
// A signal of NCCL's is a counter of the rank that waits: channel c of a rank waits for its signal c. Signals and the
// data before them go through one context, which both ends know: c modulo their number. Packets that are put need no
// signal: the network writes aligned words of eight bytes whole.
#pragma once

#include <nccl_device.h>

#include <type_traits>

/// Bytes: network cards hold less than 2 GiB in one request, and not every way of NCCL's divides what is longer.
#ifndef MSCCLC_GIN_LARGEST_PUT
#define MSCCLC_GIN_LARGEST_PUT (uint64_t{1} << 30)
#endif

namespace mscclc::device::detail {

/// What this block has written, and what it knows of others' writes, can be read by the network from here on.
MSCCLC_DEVICE void fenceNetwork() {
#ifdef __CUDA_ARCH__
  __threadfence_system();
#endif
}

MSCCLC_DEVICE ncclGin contextOf(const ncclDevComm &comm, uint32_t channel) {
  return ncclGin(comm, static_cast<int>(channel % comm.ginContextCount));
}

/// The way out of one end of a port channel.
class NetworkPort {
public:
  MSCCLC_DEVICE NetworkPort(const ncclDevComm &comm, const MscclcChannel &channel)
      : heard_(channel.network != MSCCLC_UNPAIRED), signal_(heard_ ? channel.network - 1 : 0),
        gin_(contextOf(comm, signal_)), world_(ncclTeamWorld(comm)), peer_(static_cast<int>(channel.peer)) {}

  /// What the proxy does for a request; waits for its flush, the `flush`-th of the channel, if it has one.
  MSCCLC_DEVICE void send(const MscclcRankArgs &args, uint32_t operation, const MscclcTrigger &wanted,
                          const MscclcPlace &from, const MscclcPlace &to, uint64_t flush) const {
    const bool signals = heard_ && (wanted.flags & MSCCLC_TRIGGER_SIGNAL) != 0;
    fenceNetwork();
    if (wanted.size != 0) {
      const auto target = static_cast<ncclWindow_t>(to.window), source = static_cast<ncclWindow_t>(from.window);
      uint64_t targetAt = beginOf(to, channelPeer()) + wanted.dst_offset,
               sourceAt = beginOf(from, args.rank) + wanted.src_offset, left = wanted.size;
      constexpr uint64_t most = MSCCLC_GIN_LARGEST_PUT;
      for (; left > most; left -= most, targetAt += most, sourceAt += most)
        gin_.put(world_, peer_, target, targetAt, source, sourceAt, most);
      if (signals)
        gin_.put(world_, peer_, target, targetAt, source, sourceAt, left, Signal{signal_});
      else
        gin_.put(world_, peer_, target, targetAt, source, sourceAt, left);
    } else if (signals) {
      gin_.signal(world_, peer_, Signal{signal_});
    }
    if ((wanted.flags & MSCCLC_TRIGGER_FLUSH) != 0)
      awaitSources(args, {MSCCLC_WAIT_FLUSH, operation, channelPeer(), wanted.channel, flush});
  }

private:
  // A signal that is seen says that all puts before it, of its context and to its peer, have arrived.
#if NCCL_VERSION_CODE >= 23200
  using Signal = ncclGin_StrongSignalInc;
#else
  using Signal = ncclGin_SignalInc;
#endif

  MSCCLC_DEVICE uint32_t channelPeer() const { return static_cast<uint32_t>(peer_); }
  static MSCCLC_DEVICE uint64_t beginOf(const MscclcPlace &place, uint32_t rank) {
    return place.begins == nullptr ? 0 : place.begins[rank];
  }
  /// Waits until the context's puts so far, to any peer, have left their sources.
  MSCCLC_DEVICE void awaitSources(const MscclcRankArgs &args, const WaitInfo &info) const {
#if NCCL_VERSION_CODE >= 23200
    constexpr uint64_t cycles = 1000; // of one poll
    spin(args, info, [&](uint64_t &seen) {
      seen = info.expected - 1;
      return gin_.flush(ncclCoopThread(), cuda::memory_order_acquire, ncclGin_None{}, cycles) == ncclSuccess;
    });
#else
    // NCCL waits by itself, for as long as it takes.
    static_cast<void>(info);
    if (loadHost(&args.status->abort) == 0)
      gin_.flush(ncclCoopThread());
#endif
  }

  const bool heard_;
  const uint32_t signal_;
  const ncclGin gin_;
  const ncclTeam world_;
  const int peer_;
};

/// Waits for the next signal of this rank's port channel `index`.
template <class K>
MSCCLC_DEVICE void waitNetwork(const K &k, uint32_t operation, int index, const MscclcChannel &channel) {
  const ncclGin gin = contextOf(k.parameters.network, static_cast<uint32_t>(index));
  const uint64_t expected = loadRelaxed(channel.expected) + 1;
  spin(k.args, {MSCCLC_WAIT_PORT, operation, channel.peer, static_cast<uint64_t>(index), expected},
       [&](uint64_t &seen) {
         seen = gin.readSignal(static_cast<ncclGinSignal_t>(index));
         return seen >= expected;
       });
  storeRelaxed(channel.expected, expected);
  orderAliases<K>();
}

/// One thread, between launches: lets all that was sent leave, or takes back the rank's own signals. Of each kernel its
/// own. NCCL's flush does not say that puts have arrived: after an abort, a put or a signal that is on its way for
/// longer than all ranks take to meet comes too late to be taken back.
template <class Plan>
MSCCLC_KERNEL(1)
settleNetwork(MSCCLC_PARAMETERS(ncclDevComm) comm, uint32_t signals, uint32_t clear) {
  for (uint32_t context = 0; context < comm.ginContextCount; ++context) {
    const ncclGin gin = contextOf(comm, context);
    if (clear == 0)
      gin.flush(ncclCoopThread());
    for (uint32_t signal = 0; clear != 0 && signal < signals; ++signal)
      gin.resetSignal(signal);
  }
}

} // namespace mscclc::device::detail

namespace mscclc::device::host {

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
  wanted.ginSignalCount = static_cast<int>(signals);
  return create(comm, &wanted, made);
}

template <class Plan> int32_t settleNetwork(const void *made, uint32_t signals, uint32_t clear, void *stream) {
  ncclDevComm comm = *static_cast<const ncclDevComm *>(made);
#ifdef __CUDACC__
  void *parameters[] = {&comm, &signals, &clear};
  const cudaError_t result = cudaLaunchKernel(reinterpret_cast<const void *>(detail::settleNetwork<Plan>), dim3(1),
                                              dim3(1), parameters, 0, static_cast<cudaStream_t>(stream));
  return result == cudaSuccess ? MSCCLC_OK : MSCCLC_ERROR_DEVICE + static_cast<int32_t>(result);
#else
  static_cast<standin::Stream *>(stream)->launch(1, 1, [=] { detail::settleNetwork<Plan>(comm, signals, clear); });
  return MSCCLC_OK;
#endif
}

/// The body's description, for a kernel with port channels.
template <class Plan> const MscclcNetworkBody *networkBody() {
  static const MscclcNetworkBody body = {
      NCCL_VERSION_CODE, sizeof(ncclDevComm), &makeNetwork<Plan>,
      [](const void *made) { return static_cast<uint32_t>(static_cast<const ncclDevComm *>(made)->ginContextCount); },
      &settleNetwork<Plan>};
  return &body;
}

} // namespace mscclc::device::host
