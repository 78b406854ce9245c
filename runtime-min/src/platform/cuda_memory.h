// Memory by the driver's virtual memory functions, and multicast objects over it.
#pragma once

#include "platform/cuda_driver.h"

#include <map>
#include <mutex>
#include <vector>

namespace mscclc::rt {

class CudaMemory {
public:
  explicit CudaMemory(const CudaDriver &driver) : driver_(driver) {}

  bool hasMulticast(int32_t device) const;

  /// Memory of `device`, not zeroed, that the devices of `reachableFrom` and its own can access.
  Status allocate(int32_t device, uint64_t bytes, const std::vector<int32_t> &reachableFrom, void *&memory);
  /// Maps memory of another process; `file` stays the caller's.
  Status open(int32_t device, int file, uint64_t bytes, void *&memory);
  bool owns(const void *memory) const; ///< allocated or opened here
  /// `bytes`: of the whole mapping. `file` is the caller's to close.
  Status share(const void *memory, uint64_t &bytes, int &file) const;
  /// The same for memory that the program mapped by the driver's functions: `base` is where the mapping begins.
  Status shareMapped(void *base, int &file) const;
  /// False if the memory is not of this kind.
  bool release(void *memory);

  Status createMulticast(uint32_t devices, uint64_t bytes, void *&object, int &file);
  Status openMulticast(int file, uint64_t bytes, uint32_t devices, void *&object);
  Status joinMulticast(void *object, int32_t device);
  Status bindMulticast(void *object, int32_t device, const void *memory);
  Status mapMulticast(void *object, const std::vector<int32_t> &devices, void *&address);
  void destroyMulticast(void *object);

private:
  struct Mapping {
    CUmemGenericAllocationHandle handle = 0;
    uint64_t bytes = 0;
  };
  struct Multicast;

  Status granularity(int32_t device, uint64_t &bytes) const;
  Status multicastBytes(uint32_t devices, uint64_t bytes, CUmulticastObjectProp &properties) const;
  Status map(const Mapping &mapping, const std::vector<int32_t> &devices, CUdeviceptr &address) const;
  Status find(const void *memory, Mapping &mapping) const;

  const CudaDriver &driver_;
  mutable std::mutex mutex_;
  std::map<CUdeviceptr, Mapping> mappings_;
};

} // namespace mscclc::rt
