// A fake of NCCL's device interface in host memory, as far as port channels call it: what a kernel for the CPU
// stand-in is compiled with in the place of NCCL's header. The fake's library does the work, behind a table of
// functions. NCCL_FAKE_VERSION says which NCCL it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#define NCCL_VERSION_CODE NCCL_FAKE_VERSION

enum ncclResult_t { ncclSuccess = 0, ncclTimeout = 8 };
using ncclGinSignal_t = uint32_t;
using ncclGinCounter_t = uint32_t;
struct ncclWindow_vidmem;
using ncclWindow_t = ncclWindow_vidmem *;
struct ncclTeam {
  int nRanks, rank, stride;
};

/// The fake's own: what it has for a device communicator.
struct NcclDoubleNetwork {
  virtual void put(uint32_t context, int peer, ncclWindow_t to, size_t toOffset, ncclWindow_t from, size_t fromOffset,
                   size_t bytes, const ncclGinCounter_t *counter) = 0;
  virtual void signal(uint32_t context, int peer, ncclGinSignal_t signal) = 0;
  virtual uint64_t read(uint32_t context, ncclGinSignal_t signal) = 0;
  virtual void reset(uint32_t context, ncclGinSignal_t signal) = 0;
  virtual uint64_t readCounter(uint32_t context, ncclGinCounter_t counter) = 0;
  virtual void resetCounter(uint32_t context, ncclGinCounter_t counter) = 0;
  /// False if it would have to wait.
  virtual bool flush(uint32_t context) = 0;
  virtual ~NcclDoubleNetwork() = default;
};

struct ncclDevComm {
  int rank, nRanks;
  uint32_t ginContextCount;
  NcclDoubleNetwork *network;
};
inline ncclTeam ncclTeamWorld(const ncclDevComm &comm) {
  return {comm.nRanks, comm.rank, 1};
}

#if NCCL_VERSION_CODE >= 22900
enum ncclGinConnectionType_t { NCCL_GIN_CONNECTION_NONE, NCCL_GIN_CONNECTION_FULL };
struct ncclDevCommRequirements {
  size_t size;
  unsigned version;
  int ginContextCount, ginSignalCount, ginCounterCount;
  ncclGinConnectionType_t ginConnectionType;
  bool ginVaSignalsRequired;
};
#define NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER                                                                         \
  {sizeof(ncclDevCommRequirements), NCCL_VERSION_CODE, 4, 0, 0, NCCL_GIN_CONNECTION_NONE, true}
#else
struct ncclDevCommRequirements {
  bool ginForceEnable;
  int ginContextCount, ginSignalCount, ginCounterCount;
};
#endif

namespace cuda {
enum memory_order { memory_order_acquire };
}
struct ncclCoopThread {};
struct ncclGin_None {};
struct ncclGin_CounterInc {
  ncclGinCounter_t counter;
};
struct ncclGin_SignalInc {
  ncclGinSignal_t signal;
};
struct ncclGin_StrongSignalInc {
  ncclGinSignal_t signal;
};

struct ncclGin {
  ncclGin(const ncclDevComm &comm, int contextIndex)
      : network(*comm.network), context(static_cast<uint32_t>(contextIndex)) {}

  template <class Remote = ncclGin_None, class Local = ncclGin_None>
  void put(ncclTeam team, int peer, ncclWindow_t to, size_t toOffset, ncclWindow_t from, size_t fromOffset,
           size_t bytes, Remote then = {}, Local left = {}) const {
    const ncclGinCounter_t *counter = nullptr;
    if constexpr (std::is_same_v<Local, ncclGin_CounterInc>)
      counter = &left.counter;
    network.put(context, peer, to, toOffset, from, fromOffset, bytes, counter);
    if constexpr (!std::is_same_v<Remote, ncclGin_None>)
      signal(team, peer, then);
  }
  template <class Signal> void signal(ncclTeam, int peer, Signal action) const {
    network.signal(context, peer, action.signal);
  }
  uint64_t readSignal(ncclGinSignal_t signal) const { return network.read(context, signal); }
  void resetSignal(ncclGinSignal_t signal) const { network.reset(context, signal); }
  uint64_t readCounter(ncclGinCounter_t counter) const { return network.readCounter(context, counter); }
  void resetCounter(ncclGinCounter_t counter) const { network.resetCounter(context, counter); }
#if NCCL_VERSION_CODE >= 23200
  /// Takes longer than it may at every other call.
  ncclResult_t flush(ncclCoopThread, cuda::memory_order, ncclGin_None, uint64_t) const {
    static thread_local unsigned calls = 0;
    if (calls++ % 2 == 0)
      return ncclTimeout;
    return network.flush(context) ? ncclSuccess : ncclTimeout;
  }
#endif

  NcclDoubleNetwork &network;
  const uint32_t context;
};
