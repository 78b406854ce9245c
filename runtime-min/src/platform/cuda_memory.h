// Memory from the driver's virtual memory functions, and multicast objects for such memory.
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

  /// Allocates memory of `device`, without filling it with zeros. The devices of `reachableFrom` and `device` itself
  /// can access it.
  Status allocate(int32_t device, uint64_t bytes, const std::vector<int32_t> &reachableFrom, void *&memory);
  /// Maps memory of another process. The caller keeps `file`.
  Status openShared(int32_t device, int file, uint64_t bytes, void *&memory);
  /// Makes a file for the memory that this runtime or the program has mapped at `base`. The caller closes it.
  Status share(void *base, int &file) const;
  /// Releases memory of allocate or openShared. Returns false for other memory.
  bool release(void *memory);

  /// True if a device can take part in multicast objects.
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
  /// Maps the memory of the mapping's handle. If that fails, releases the handle.
  Status keep(const Mapping &mapping, const std::vector<int32_t> &devices, void *&memory);
  Status map(const Mapping &mapping, const std::vector<int32_t> &devices, CUdeviceptr &address) const;
  Status find(const void *memory, Mapping &mapping) const;

  const CudaDriver &driver_;
  mutable std::mutex mutex_;
  std::map<CUdeviceptr, Mapping> mappings_;
};

} // namespace mscclc::rt
