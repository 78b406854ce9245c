// The functions of NCCL that the engine calls, looked up when a communicator is made: the runtime links without NCCL.
// Their types are those of NCCL's C interface, which keeps its layout over versions.
#pragma once

#include "status.h"

#include <type_traits>

namespace mscclc::rt {

using NcclComm = void *;
using NcclWindow = void *;

inline constexpr int ncclInProgress = 7;

/// ncclTeam_t: `ranks` ranks, `stride` apart, of which the caller is the `rank`-th.
struct NcclTeam {
  int ranks, rank, stride;
};

struct NcclLibrary {
  /// `handle`: of dlopen; null: the NCCL that the process has loaded.
  static Status open(void *handle, NcclLibrary &library);

  int version = 0; ///< 22809 is 2.28.9
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
  /// From 2.29 on; null before.
  int (*getPeerDevicePointer)(NcclWindow window, size_t offset, int peer, void **pointer) = nullptr;
  int (*getLsaMultimemDevicePointer)(NcclWindow window, size_t offset, void **pointer) = nullptr;

  /// What a call returned, as a status; for a communicator that does not block, waits until the call is through.
  Status finish(const char *what, NcclComm comm, int result) const;
};

} // namespace mscclc::rt
