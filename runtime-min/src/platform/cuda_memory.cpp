#include "platform/cuda_memory.h"

#include <algorithm>

namespace mscclc::rt {
namespace {

uint64_t roundUp(uint64_t bytes, uint64_t step) {
  return (std::max<uint64_t>(bytes, 1) + step - 1) / step * step;
}

CUmemAllocationProp propertiesOf(int32_t device) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = device;
  return properties;
}

CUdeviceptr addressOf(const void *memory) {
  return reinterpret_cast<CUdeviceptr>(memory);
}

} // namespace

struct CudaMemory::Multicast {
  CUmemGenericAllocationHandle handle = 0;
  uint64_t bytes = 0;
  CUdeviceptr address = 0;
  std::vector<CUdevice> bound;
};

bool CudaMemory::has(int32_t device) const {
  if (!driver_.canMulticast())
    return false;
  // The runtime's number of a device is also its handle in the driver.
  int multicast = 0, file = 0;
  return driver_.cuDeviceGetAttribute(&multicast, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, device) == CUDA_SUCCESS &&
         driver_.cuDeviceGetAttribute(&file, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, device) ==
             CUDA_SUCCESS &&
         multicast != 0 && file != 0;
}

Status CudaMemory::granularity(int32_t device, uint64_t &bytes) const {
  const CUmemAllocationProp properties = propertiesOf(device);
  size_t memory = 0, multicast = 0;
  MSCCLC_TRY(MSCCLC_DRIVER(cuMemGetAllocationGranularity, &memory, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
  CUmulticastObjectProp object{};
  object.numDevices = 2;
  object.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  object.size = memory;
  // If the driver does not answer, the memory can be used for everything except multicast.
  if (driver_.cuMulticastGetGranularity(&multicast, &object, CU_MULTICAST_GRANULARITY_MINIMUM) != CUDA_SUCCESS)
    multicast = 0;
  bytes = std::max(memory, multicast); // both are powers of two
  return {};
}

Status CudaMemory::map(const Mapping &mapping, const std::vector<int32_t> &devices, CUdeviceptr &address) const {
  MSCCLC_TRY(MSCCLC_DRIVER(cuMemAddressReserve, &address, mapping.bytes, 0, 0, 0));
  Status status = MSCCLC_DRIVER(cuMemMap, address, mapping.bytes, 0, mapping.handle, 0);
  if (status.ok()) {
    std::vector<CUmemAccessDesc> access;
    for (const int32_t device : devices) {
      CUmemAccessDesc entry{};
      entry.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
      entry.location.id = device;
      entry.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
      access.push_back(entry);
    }
    status = MSCCLC_DRIVER(cuMemSetAccess, address, mapping.bytes, access.data(), access.size());
    if (!status.ok())
      driver_.cuMemUnmap(address, mapping.bytes);
  }
  if (!status.ok()) {
    driver_.cuMemAddressFree(address, mapping.bytes);
    address = 0;
  }
  return status;
}

Status CudaMemory::allocate(int32_t device, uint64_t bytes, const std::vector<int32_t> &reachableFrom, void *&memory) {
  uint64_t step = 0;
  MSCCLC_TRY(granularity(device, step));
  const CUmemAllocationProp properties = propertiesOf(device);
  Mapping mapping;
  mapping.bytes = roundUp(bytes, step);
  MSCCLC_TRY(MSCCLC_DRIVER(cuMemCreate, &mapping.handle, mapping.bytes, &properties, 0));
  std::vector<int32_t> devices = reachableFrom;
  devices.push_back(device);
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  return keep(mapping, devices, memory);
}

Status CudaMemory::keep(const Mapping &mapping, const std::vector<int32_t> &devices, void *&memory) {
  CUdeviceptr address = 0;
  if (Status status = map(mapping, devices, address); !status.ok()) {
    driver_.cuMemRelease(mapping.handle);
    return status;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  mappings_[address] = mapping;
  memory = reinterpret_cast<void *>(address);
  return {};
}

Status CudaMemory::exportTo(CUmemGenericAllocationHandle handle, int &file) const {
  return MSCCLC_DRIVER(cuMemExportToShareableHandle, &file, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
}

Status CudaMemory::import(int file, CUmemGenericAllocationHandle &handle) const {
  return MSCCLC_DRIVER(cuMemImportFromShareableHandle, &handle, reinterpret_cast<void *>(static_cast<intptr_t>(file)),
                       CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
}

Status CudaMemory::openShared(int32_t device, int file, uint64_t bytes, void *&memory) {
  if (!driver_.canShareByFile())
    return failure(MSCCLC_ERROR_UNSUPPORTED, "the driver cannot map memory of another process by a file");
  Mapping mapping;
  mapping.bytes = bytes;
  MSCCLC_TRY(import(file, mapping.handle));
  return keep(mapping, {device}, memory);
}

Status CudaMemory::find(const void *memory, Mapping &mapping) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = mappings_.find(addressOf(memory));
  if (found == mappings_.end())
    return failure(MSCCLC_ERROR_ARGUMENT, "not the beginning of memory made for multicast");
  mapping = found->second;
  return {};
}

Status CudaMemory::share(void *base, int &file) const {
  if (!driver_.canShareByFile() || driver_.cuMemRetainAllocationHandle == nullptr)
    return failure(MSCCLC_ERROR_UNSUPPORTED, "the driver cannot share mapped memory by a file");
  CUmemGenericAllocationHandle handle = 0;
  MSCCLC_TRY(MSCCLC_DRIVER(cuMemRetainAllocationHandle, &handle, base));
  const Status status = exportTo(handle, file);
  driver_.cuMemRelease(handle);
  return status;
}

bool CudaMemory::release(void *memory) {
  Mapping mapping;
  if (!find(memory, mapping).ok())
    return false;
  const CUdeviceptr address = addressOf(memory);
  driver_.cuMemUnmap(address, mapping.bytes);
  driver_.cuMemAddressFree(address, mapping.bytes);
  driver_.cuMemRelease(mapping.handle);
  const std::lock_guard<std::mutex> lock(mutex_);
  mappings_.erase(address);
  return true;
}

Status CudaMemory::open(uint32_t devices, uint64_t bytes, int &file, void *&object) {
  CUmulticastObjectProp properties{};
  properties.numDevices = devices;
  properties.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.size = bytes;
  size_t step = 0;
  MSCCLC_TRY(MSCCLC_DRIVER(cuMulticastGetGranularity, &step, &properties, CU_MULTICAST_GRANULARITY_MINIMUM));
  properties.size = roundUp(bytes, step);
  auto made = std::make_unique<Multicast>();
  made->bytes = properties.size;
  if (file >= 0) {
    MSCCLC_TRY(import(file, made->handle));
  } else {
    MSCCLC_TRY(MSCCLC_DRIVER(cuMulticastCreate, &made->handle, &properties));
    if (Status status = exportTo(made->handle, file); !status.ok()) {
      driver_.cuMemRelease(made->handle);
      return status;
    }
  }
  object = made.release();
  return {};
}

Status CudaMemory::join(void *object, int32_t device) {
  MSCCLC_CUDA(cudaSetDevice(device));
  return MSCCLC_DRIVER(cuMulticastAddDevice, static_cast<Multicast *>(object)->handle, device);
}

Status CudaMemory::bind(void *object, int32_t device, const void *memory) {
  MSCCLC_CUDA(cudaSetDevice(device));
  auto *multicast = static_cast<Multicast *>(object);
  Mapping mapping;
  MSCCLC_TRY(find(memory, mapping));
  MSCCLC_TRY(MSCCLC_DRIVER(cuMulticastBindMem, multicast->handle, 0, mapping.handle, 0,
                           std::min(multicast->bytes, mapping.bytes), 0));
  multicast->bound.push_back(device);
  return {};
}

Status CudaMemory::mapObject(void *object, const std::vector<int32_t> &devices, void *&address) {
  auto *multicast = static_cast<Multicast *>(object);
  MSCCLC_TRY(map({multicast->handle, multicast->bytes}, devices, multicast->address));
  address = reinterpret_cast<void *>(multicast->address);
  return {};
}

void CudaMemory::destroy(void *object) {
  auto *multicast = static_cast<Multicast *>(object);
  if (multicast->address != 0) {
    driver_.cuMemUnmap(multicast->address, multicast->bytes);
    driver_.cuMemAddressFree(multicast->address, multicast->bytes);
  }
  for (const CUdevice device : multicast->bound)
    driver_.cuMulticastUnbind(multicast->handle, device, 0, multicast->bytes);
  driver_.cuMemRelease(multicast->handle);
  delete multicast;
}

} // namespace mscclc::rt
