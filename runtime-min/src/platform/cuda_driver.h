// Functions of the CUDA driver that the runtime API does not offer. They are looked up at run time, so that the library
// also starts with older drivers.
#pragma once

#include "status.h"

#include <cuda.h>
#include <cuda_runtime.h>

// Lists of functions: those for sharing memory by files, those that multicast objects need in addition, and all
// functions.
#define MSCCLC_SHARE_FUNCTIONS(F)                                                                                      \
  F(cuMemGetAllocationGranularity)                                                                                     \
  F(cuMemCreate)                                                                                                       \
  F(cuMemRelease)                                                                                                      \
  F(cuMemAddressReserve)                                                                                               \
  F(cuMemAddressFree)                                                                                                  \
  F(cuMemMap)                                                                                                          \
  F(cuMemUnmap)                                                                                                        \
  F(cuMemSetAccess)                                                                                                    \
  F(cuMemExportToShareableHandle)                                                                                      \
  F(cuMemImportFromShareableHandle)
#define MSCCLC_MULTICAST_FUNCTIONS(F)                                                                                  \
  F(cuDeviceGetAttribute)                                                                                              \
  F(cuMulticastCreate)                                                                                                 \
  F(cuMulticastAddDevice)                                                                                              \
  F(cuMulticastBindMem)                                                                                                \
  F(cuMulticastUnbind)                                                                                                 \
  F(cuMulticastGetGranularity)
#define MSCCLC_DRIVER_FUNCTIONS(F)                                                                                     \
  MSCCLC_SHARE_FUNCTIONS(F)                                                                                            \
  MSCCLC_MULTICAST_FUNCTIONS(F)                                                                                        \
  F(cuGetErrorName)                                                                                                    \
  F(cuCtxGetCurrent)                                                                                                   \
  F(cuPointerGetAttribute)                                                                                             \
  F(cuMemGetAddressRange)                                                                                              \
  F(cuMemGetAccess)                                                                                                    \
  F(cuMemRetainAllocationHandle)

namespace mscclc::rt {

/// The functions of the driver. A member is null if the driver lacks the function.
struct CudaDriver {
#define MEMBER(name) decltype(&::name) name = nullptr;
  MSCCLC_DRIVER_FUNCTIONS(MEMBER)
#undef MEMBER

  void load();
  bool canShareByFile() const; ///< cuMem… functions are available
  bool canMulticast() const;
  Status check(CUresult result, const char *what) const;
};

Status checkCuda(cudaError_t result, const char *what);

} // namespace mscclc::rt

#define MSCCLC_CHECK(call) ::mscclc::rt::checkCuda(call, #call)
#define MSCCLC_CUDA(call) MSCCLC_TRY(MSCCLC_CHECK(call))
/// Calls a function of a CudaDriver `driver_`, and makes a Status of its result.
#define MSCCLC_DRIVER(function, ...) driver_.check(driver_.function(__VA_ARGS__), #function)
