#include "platform/cuda_adopted.h"

#include <algorithm>

namespace mscclc::rt {
namespace {

/// Returns the driver's information about an address; zero if the driver has none.
template <class T> T attributeOf(const CudaDriver &driver, CUpointer_attribute attribute, CUdeviceptr at) {
  T value{};
  if (driver.cuPointerGetAttribute == nullptr || driver.cuPointerGetAttribute(&value, attribute, at) != CUDA_SUCCESS)
    return T{};
  return value;
}

Status openPool(cudaMemPool_t pool, int32_t owner, const std::vector<int32_t> &from) {
  for (const int32_t device : from) {
    cudaMemAccessDesc wanted{};
    wanted.location.type = cudaMemLocationTypeDevice;
    wanted.location.id = device;
    wanted.flags = cudaMemAccessFlagsProtReadWrite;
    cudaMemAccessFlags given = cudaMemAccessFlagsProtNone;
    if (device == owner)
      continue;
    MSCCLC_CUDA(cudaMemPoolGetAccess(&given, pool, &wanted.location));
    if (given == cudaMemAccessFlagsProtReadWrite)
      continue;
    if (const Status refused = checkCuda(cudaMemPoolSetAccess(pool, &wanted, 1), "cudaMemPoolSetAccess"); !refused.ok())
      return failure(MSCCLC_ERROR_UNSUPPORTED,
                     "the memory is of a pool on device %d which device %d cannot access (%s); use memory of "
                     "cudaMalloc or mscclc_buffer_allocate",
                     owner, device, refused.text.c_str());
  }
  return {};
}

/// Checks access to each mapping of the range, because each has its own access rights.
Status checkMappings(const CudaDriver &driver, CUdeviceptr begin, uint64_t bytes, int32_t owner,
                     const std::vector<int32_t> &from) {
  for (CUdeviceptr at = begin; at < begin + bytes;) {
    for (const int32_t device : from) {
      CUmemLocation location{};
      location.type = CU_MEM_LOCATION_TYPE_DEVICE;
      location.id = device;
      unsigned long long flags = 0;
      // The driver does not answer for other kinds of memory.
      if (driver.cuMemGetAccess(&flags, &location, at) != CUDA_SUCCESS)
        return {};
      if (flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
        return failure(MSCCLC_ERROR_UNSUPPORTED,
                       "the memory was mapped on device %d by cuMemMap, %llu bytes on, without access for device %d; "
                       "give it access (cuMemSetAccess), or use memory of cudaMalloc or mscclc_buffer_allocate",
                       owner, wide(at - begin), device);
    }
    CUdeviceptr base = 0;
    size_t size = 0;
    if (driver.cuMemGetAddressRange(&base, &size, at) != CUDA_SUCCESS || base + size <= at)
      return {};
    at = base + size;
  }
  return {};
}

} // namespace

bool isMapped(const CudaDriver &driver, const void *memory) {
  const auto at = reinterpret_cast<CUdeviceptr>(memory);
  CUmemLocation location{};
  location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  unsigned long long flags = 0;
  return attributeOf<int>(driver, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, at) == 0 &&
         attributeOf<CUmemoryPool>(driver, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, at) == nullptr &&
         driver.cuMemGetAccess != nullptr && driver.cuMemGetAccess(&flags, &location, at) == CUDA_SUCCESS;
}

Status checkAdopted(const CudaDriver &driver, int32_t device, void *memory, uint64_t bytes,
                    const std::vector<int32_t> &from) {
  cudaPointerAttributes attributes{};
  MSCCLC_CUDA(cudaPointerGetAttributes(&attributes, memory));
  int pageable = 0;
  switch (attributes.type) {
  case cudaMemoryTypeUnregistered:
    MSCCLC_CUDA(cudaDeviceGetAttribute(&pageable, cudaDevAttrPageableMemoryAccess, device));
    if (pageable != 0)
      return {};
    return failure(MSCCLC_ERROR_ARGUMENT, "the memory is not CUDA's, and device %d cannot access it", device);
  case cudaMemoryTypeHost:
  case cudaMemoryTypeManaged:
    return {};
  case cudaMemoryTypeDevice:
    break;
  }
  if (attributes.device != device)
    return failure(MSCCLC_ERROR_ARGUMENT, "the memory is on device %d, and its rank on device %d", attributes.device,
                   device);
  const auto at = reinterpret_cast<CUdeviceptr>(memory);
  if (attributeOf<int>(driver, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, at) != 0)
    return {};
  if (const auto pool = attributeOf<CUmemoryPool>(driver, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, at); pool != nullptr)
    return openPool(pool, device, from);
  if (driver.cuMemGetAccess == nullptr || driver.cuMemGetAddressRange == nullptr)
    return {};
  return checkMappings(driver, at, bytes, device, from);
}

} // namespace mscclc::rt
