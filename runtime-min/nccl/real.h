// The NCCL that this library stands in front of.
#pragma once

#include "call.h"

#include <string>

namespace mscclc::nccl {

/// Functions of the real library that this one calls itself. Null where there is no real library.
struct Real {
  int (*allReduce)(const void *, void *, size_t, int, int, Comm, cudaStream_t);
  int (*allGather)(const void *, void *, size_t, int, Comm, cudaStream_t);
  int (*reduceScatter)(const void *, void *, size_t, int, int, Comm, cudaStream_t);
  int (*broadcast)(const void *, void *, size_t, int, int, Comm, cudaStream_t);
  int (*reduce)(const void *, void *, size_t, int, int, int, Comm, cudaStream_t);
  int (*allToAll)(const void *, void *, size_t, int, Comm, cudaStream_t);
  int (*gather)(const void *, void *, size_t, int, int, Comm, cudaStream_t);
  int (*scatter)(const void *, void *, size_t, int, int, Comm, cudaStream_t);
  int (*allReduceConfig)(const void *, void *, size_t, int, int, Comm, cudaStream_t, const void *);
  int (*allGatherConfig)(const void *, void *, size_t, int, Comm, cudaStream_t, const void *);
  int (*reduceScatterConfig)(const void *, void *, size_t, int, int, Comm, cudaStream_t, const void *);
  int (*broadcastConfig)(const void *, void *, size_t, int, int, Comm, cudaStream_t, const void *);
  int (*reduceConfig)(const void *, void *, size_t, int, int, int, Comm, cudaStream_t, const void *);
  int (*allToAllConfig)(const void *, void *, size_t, int, Comm, cudaStream_t, const void *);
  int (*gatherConfig)(const void *, void *, size_t, int, int, Comm, cudaStream_t, const void *);
  int (*scatterConfig)(const void *, void *, size_t, int, int, Comm, cudaStream_t, const void *);
  int (*send)(const void *, size_t, int, int, Comm, cudaStream_t);
  int (*recv)(void *, size_t, int, int, Comm, cudaStream_t);
  int (*groupStart)();
  int (*groupEnd)();
  int (*groupSimulateEnd)(void *);
  int (*commInitRank)(Comm *, int, UniqueId, int);
  int (*commInitRankConfig)(Comm *, int, UniqueId, int, void *);
  int (*commInitAll)(Comm *, int, const int *);
  int (*commInitRankScalable)(Comm *, int, int, int, UniqueId *, void *);
  int (*commDestroy)(Comm);
  int (*commAbort)(Comm);
  int (*commGetAsyncError)(Comm, int *);
  int (*commCount)(Comm, int *);
  int (*commUserRank)(Comm, int *);
  int (*commCuDevice)(Comm, int *);
  int (*commRegister)(Comm, void *, size_t, void **);
  int (*commDeregister)(Comm, void *);
  int (*commWindowRegister)(Comm, void *, size_t, void **, int);
  int (*commWindowDeregister)(Comm, void *);
  int (*memAlloc)(void **, size_t);
  int (*memFree)(void *);
  int (*redOpCreatePreMulSum)(int *, void *, int, int, Comm);
  int (*redOpDestroy)(int, Comm);
  const char *(*getErrorString)(int);
  const char *(*getLastError)(Comm);
};

/// Opened at the first call of any function. A function that the library lacks is one that fails with InvalidUsage and
/// says so.
const Real &real();
/// Whether the real library is what calls: `caller` is the address that a function of this library returns to. Where
/// the real library calls its own functions by their names, those of this library come first, and have to pass that on.
bool isReal(const void *caller);
/// dlopen's handle of it, or null.
void *realLibrary();
/// Why communicators cannot be made: there is no real library, or the process has two. Empty if all is well.
std::string refusal();

/// Passes a recorded call on.
int passOn(const Call &call);

} // namespace mscclc::nccl
