// Whether devices reach memory that the program has allocated.
#pragma once

#include "platform/cuda_driver.h"

#include <vector>

namespace mscclc::rt {

/// Peer access of devices covers what cudaMalloc gives. A pool of cudaMallocAsync is told to let `from` in, where it
/// does not yet. Memory that the program mapped by the driver's virtual memory functions must let them in already:
/// MSCCLC_ERROR_UNSUPPORTED if it does not. `device`: whose memory [memory, memory + bytes) is to be;
/// MSCCLC_ERROR_ARGUMENT if it is another's, or no device's.
Status checkAdopted(const CudaDriver &driver, int32_t device, void *memory, uint64_t bytes,
                    const std::vector<int32_t> &from);

/// Whether memory was mapped by the driver's virtual memory functions, as ncclMemAlloc does it.
bool isMapped(const CudaDriver &driver, const void *memory);

} // namespace mscclc::rt
