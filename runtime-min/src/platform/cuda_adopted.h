// Checks whether devices can access memory that the program has allocated.
#pragma once

#include "platform/cuda_driver.h"

#include <vector>

namespace mscclc::rt {

/// Checks that `device` and the devices `from` can access [memory, memory + bytes). Memory of cudaMalloc needs only the
/// peer access of the devices. A pool of cudaMallocAsync gets access for `from` where it is missing. Memory that the
/// program mapped by the driver's virtual memory functions must already have access for `from`; otherwise the result is
/// MSCCLC_ERROR_UNSUPPORTED. The result is MSCCLC_ERROR_ARGUMENT if the memory belongs to another device, or if
/// `device` cannot access it.
Status checkAdopted(const CudaDriver &driver, int32_t device, void *memory, uint64_t bytes,
                    const std::vector<int32_t> &from);

/// True if memory was mapped by the driver's virtual memory functions, as in ncclMemAlloc.
bool isMapped(const CudaDriver &driver, const void *memory);

} // namespace mscclc::rt
