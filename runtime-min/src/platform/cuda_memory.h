// Memory by the driver's virtual memory functions, and multicast objects over it.
#pragma once

#include "platform/cuda_driver.h"
#include "platform/platform.h"

#include <map>
#include <mutex>
#include <vector>

namespace mscclc::rt {

class CudaMemory final : public Multicasts {
public:
  explicit CudaMemory(const CudaDriver &driver) : driver_(driver) {}

  /// Memory of `device`, not zeroed, that the devices of `reachableFrom` and its own can access.
  Status allocate(int32_t device, uint64_t bytes, const std::vector<int32_t> &reachableFrom, void *&memory);
  /// Maps memory of another process; `file` stays the caller's.
  Status openShared(int32_t device, int file, uint64_t bytes, void *&memory);
  /// A file for what is mapped at `base`, here or by the program. It is the caller's to close.
  Status share(void *base, int &file) const;
  /// False if the memory is not of this kind.
  bool release(void *memory);

  /// Whether a device can take part in multicast objects.
  bool has(int32_t device) const;
  Status open(uint32_t devices, uint64_t bytes, int &file, void *&object) override;
  Status join(void *object, int32_t device) override;
  Status bind(void *object, int32_t device, const void *memory) override;
  Status mapObject(void *object, const std::vector<int32_t> &devices, void *&address) override;
  void destroy(void *object) override;

private:
  struct Mapping {
    CUmemGenericAllocationHandle handle = 0;
    uint64_t bytes = 0;
  };
  struct Multicast;

  Status granularity(int32_t device, uint64_t &bytes) const;
  Status exportTo(CUmemGenericAllocationHandle handle, int &file) const;
  Status import(int file, CUmemGenericAllocationHandle &handle) const;
  /// Maps what the mapping's handle names, which goes where that fails.
  Status keep(const Mapping &mapping, const std::vector<int32_t> &devices, void *&memory);
  Status map(const Mapping &mapping, const std::vector<int32_t> &devices, CUdeviceptr &address) const;
  Status find(const void *memory, Mapping &mapping) const;

  const CudaDriver &driver_;
  mutable std::mutex mutex_;
  std::map<CUdeviceptr, Mapping> mappings_;
};

} // namespace mscclc::rt
