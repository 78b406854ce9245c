// Checks whether devices can access memory that the program has allocated.
#pragma once

#include "platform/cuda_driver.h"

#include <vector>

namespace mscclc::rt {

/// Peer access of devices covers memory of cudaMalloc. For a pool of cudaMallocAsync, this gives `from` access if it is
/// missing. Memory that the program mapped by the driver's virtual memory functions must already give them access;
/// otherwise the result is MSCCLC_ERROR_UNSUPPORTED. `device`: the device to which [memory, memory + bytes) must
/// belong. The result is MSCCLC_ERROR_ARGUMENT if it belongs to another device or to none.
Status checkAdopted(const CudaDriver &driver, int32_t device, void *memory, uint64_t bytes,
                    const std::vector<int32_t> &from);

/// True if memory was mapped by the driver's virtual memory functions, as in ncclMemAlloc.
bool isMapped(const CudaDriver &driver, const void *memory);

} // namespace mscclc::rt
