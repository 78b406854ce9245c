// The functions of NCCL that the engine calls. They are looked up when a communicator is made, so the runtime links
// without NCCL. Their types are those of NCCL's C interface, whose layout does not change between versions.
#pragma once

#include "status.h"

#include <chrono>
#include <type_traits>
#include <vector>

namespace mscclc::rt {

using NcclComm = void *;
using NcclWindow = void *;

// Constants of nccl.h. tests/runtime/nccl_headers compares these declarations with NCCL's.
inline constexpr int ncclInProgressResult = 7;        ///< ncclInProgress
inline constexpr int ncclBytesType = 1;               ///< ncclUint8
inline constexpr int ncclSymmetricWindow = 1;         ///< NCCL_WIN_COLL_SYMMETRIC
inline constexpr uint64_t ncclWindowAlignment = 4096; ///< NCCL_WIN_REQUIRED_ALIGNMENT

/// ncclTeam_t: `ranks` ranks with a distance of `stride` between their numbers. The caller has index `rank` among them.
struct NcclTeam {
  int ranks, rank, stride;
};

/// The beginning of the memory to which a window's handle points, on the device. Load/store kernels that were compiled
/// for NCCL 2.28 read it, and newer versions of NCCL still run such kernels.
struct NcclWindowHead {
  void *host;
  char *teamBase; ///< the memory of the team's first rank, as an address on the device
  int32_t teamRank;
  int32_t rank;
  uint32_t stride4G; ///< distance between the memories of neighbours in the team, in 4 GiB
  uint32_t multicastOffset4K;
};

struct NcclLibrary {
  /// Looks up the functions. `handle` is a handle of dlopen. If it is null, the NCCL that the process has loaded is
  /// used.
  static Status open(void *handle, NcclLibrary &library);

  std::chrono::milliseconds patience = std::chrono::minutes(1); ///< limit for a collective call of NCCL
  int version = 0;                                              ///< 22809 for 2.28.9
  /// Returns the version as text, such as "2.28.9".
  static std::string nameOf(int version);
  int (*getVersion)(int *version) = nullptr;
  const char *(*getErrorString)(int result) = nullptr;
  int (*commCount)(NcclComm comm, int *count) = nullptr;
  int (*commUserRank)(NcclComm comm, int *rank) = nullptr;
  int (*commCuDevice)(NcclComm comm, int *device) = nullptr;
  int (*commGetAsyncError)(NcclComm comm, int *result) = nullptr;
  int (*groupStart)() = nullptr;
  int (*groupEnd)() = nullptr;
  int (*allGather)(const void *from, void *to, size_t count, int type, NcclComm comm, void *stream) = nullptr;
  int (*memAlloc)(void **memory, size_t bytes) = nullptr;
  int (*memFree)(void *memory) = nullptr;
  int (*commWindowRegister)(NcclComm comm, void *memory, size_t bytes, NcclWindow *window, int flags) = nullptr;
  int (*commWindowDeregister)(NcclComm comm, NcclWindow window) = nullptr;
  NcclTeam (*teamLsa)(NcclComm comm) = nullptr;
  /// Null if NCCL was built without its device interface. The layout of `requirements` differs between versions.
  int (*devCommCreate)(NcclComm comm, const void *requirements, void *made) = nullptr;
  int (*devCommDestroy)(NcclComm comm, const void *made) = nullptr;
  /// Null before NCCL 2.29.
  int (*getPeerDevicePointer)(NcclWindow window, size_t offset, int peer, void **pointer) = nullptr;
  int (*getLsaMultimemDevicePointer)(NcclWindow window, size_t offset, void **pointer) = nullptr;

  /// Converts the result of a call to a status. For a non-blocking communicator, waits until the call has completed or
  /// `patience` is over.
  Status finish(const char *what, NcclComm comm, int result) const;
  /// Converts the result of a call within a group. A non-blocking communicator completes the call only at the end of
  /// the group.
  Status join(const char *what, int result) const;
  /// Converts the result of ncclGroupEnd, for all communicators of the group.
  Status finishGroup(const std::vector<NcclComm> &comms, int result) const;
};

} // namespace mscclc::rt
