#include "memory.h"

#include "../../cuda_fake/driver_function.h"

#include <cuda.h>
#include <cuda_runtime.h>
#include <map>
#include <mutex>
#include <vector>

namespace fake {
namespace {

struct Mapping {
  CUmemGenericAllocationHandle handle;
  size_t bytes;
};
std::mutex mutex;
std::map<CUdeviceptr, Mapping> mappings;

#define DRIVER(name) testing::driverFunction<decltype(::name)>(#name)

} // namespace

bool allocateMapped(void **memory, size_t bytes) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  int devices = 0;
  size_t step = 0;
  CUdeviceptr address = 0;
  Mapping made{};
  if (cudaGetDevice(&properties.location.id) != cudaSuccess || cudaGetDeviceCount(&devices) != cudaSuccess ||
      DRIVER(cuMemGetAllocationGranularity)(&step, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM) != CUDA_SUCCESS)
    return false;
  made.bytes = (bytes + step - 1) / step * step;
  std::vector<CUmemAccessDesc> access(static_cast<size_t>(devices));
  for (int device = 0; device < devices; ++device) {
    access[static_cast<size_t>(device)].location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access[static_cast<size_t>(device)].location.id = device;
    access[static_cast<size_t>(device)].flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  }
  if (DRIVER(cuMemCreate)(&made.handle, made.bytes, &properties, 0) != CUDA_SUCCESS ||
      DRIVER(cuMemAddressReserve)(&address, made.bytes, 0, 0, 0) != CUDA_SUCCESS ||
      DRIVER(cuMemMap)(address, made.bytes, 0, made.handle, 0) != CUDA_SUCCESS ||
      DRIVER(cuMemSetAccess)(address, made.bytes, access.data(), access.size()) != CUDA_SUCCESS)
    return false;
  *memory = reinterpret_cast<void *>(address);
  const std::lock_guard<std::mutex> lock(mutex);
  mappings[address] = made;
  return true;
}

bool freeMapped(void *memory) {
  const auto address = reinterpret_cast<CUdeviceptr>(memory);
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = mappings.find(address);
  if (found == mappings.end())
    return false;
  DRIVER(cuMemUnmap)(address, found->second.bytes);
  DRIVER(cuMemAddressFree)(address, found->second.bytes);
  DRIVER(cuMemRelease)(found->second.handle);
  mappings.erase(found);
  return true;
}

bool isMapped(const void *memory) {
  const auto address = reinterpret_cast<CUdeviceptr>(memory);
  const std::lock_guard<std::mutex> lock(mutex);
  const auto after = mappings.upper_bound(address);
  return after != mappings.begin() && address < std::prev(after)->first + std::prev(after)->second.bytes;
}

} // namespace fake
