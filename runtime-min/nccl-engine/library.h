// The functions of NCCL that the engine calls, looked up when a communicator is made: the runtime links without NCCL.
// Their types are those of NCCL's C interface, which keeps its layout over versions.
#pragma once

#include "status.h"

#include <chrono>
#include <type_traits>
#include <vector>

namespace mscclc::rt {

using NcclComm = void *;
using NcclWindow = void *;

// Numbers of nccl.h. tests/runtime/nccl_headers compares these declarations with NCCL's.
inline constexpr int ncclInProgressResult = 7;        ///< ncclInProgress
inline constexpr int ncclBytesType = 1;               ///< ncclUint8
inline constexpr int ncclSymmetricWindow = 1;         ///< NCCL_WIN_COLL_SYMMETRIC
inline constexpr uint64_t ncclWindowAlignment = 4096; ///< NCCL_WIN_REQUIRED_ALIGNMENT

/// ncclTeam_t: `ranks` ranks, `stride` apart, of which the caller is the `rank`-th.
struct NcclTeam {
  int ranks, rank, stride;
};

/// The head of what a window's handle points at in the device's memory: as load/store kernels compiled for NCCL 2.28
/// read it, which newer versions of NCCL run too.
struct NcclWindowHead {
  void *host;
  char *teamBase; ///< of the team's first rank, as the device addresses it
  int32_t teamRank;
  int32_t rank;
  uint32_t stride4G; ///< from a rank of the team to the next, in 4 GiB
  uint32_t multicastOffset4K;
};

struct NcclLibrary {
  /// `handle`: of dlopen; null: the NCCL that the process has loaded.
  static Status open(void *handle, NcclLibrary &library);

  std::chrono::milliseconds patience = std::chrono::minutes(1); ///< with a collective call of NCCL's
  int version = 0;                                              ///< 22809 is 2.28.9
  /// "2.28.9"
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
  /// Null in an NCCL that was built without its device interface. The requirements' layout differs between versions.
  int (*devCommCreate)(NcclComm comm, const void *requirements, void *made) = nullptr;
  int (*devCommDestroy)(NcclComm comm, const void *made) = nullptr;
  /// From 2.29 on; null before.
  int (*getPeerDevicePointer)(NcclWindow window, size_t offset, int peer, void **pointer) = nullptr;
  int (*getLsaMultimemDevicePointer)(NcclWindow window, size_t offset, void **pointer) = nullptr;

  /// What a call returned, as a status; for a communicator that does not block, waits until the call is through, or
  /// patience is over.
  Status finish(const char *what, NcclComm comm, int result) const;
  /// What a call within a group returned: a communicator that does not block is through with it at the group's end.
  Status join(const char *what, int result) const;
  /// The same of what ncclGroupEnd returned, for all communicators of the group.
  Status finishGroup(const std::vector<NcclComm> &comms, int result) const;
};

} // namespace mscclc::rt
