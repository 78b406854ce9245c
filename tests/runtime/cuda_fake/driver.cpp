// The driver's functions: virtual memory and multicast objects. A multicast object is memory of its own here: nothing
// is broadcast, but it is made, joined, bound and mapped in the order and the sizes that the driver wants. Who
// interprets kernels asks for its members.
#include "fake.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <set>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace cuda_fake {
namespace {

struct Object {
  int file;
  size_t bytes;
  int device = 0;
  unsigned devices = 0; ///< of a multicast object, which must join before memory is bound; 0: unknown here
  std::set<CUdevice> joined;
  std::vector<CUmemGenericAllocationHandle> bound; ///< memory
};
std::map<CUmemGenericAllocationHandle, Object> objects;
std::map<CUdeviceptr, size_t> reserved;
struct Mapped {
  size_t bytes;
  int device;
  std::set<int> access; ///< devices
  CUmemGenericAllocationHandle handle;
};
std::map<CUdeviceptr, Mapped> mapped;
CUmemGenericAllocationHandle nextHandle = 1;

using Guard = std::lock_guard<std::mutex>;

Object &objectOf(CUmemGenericAllocationHandle handle) {
  const auto found = objects.find(handle);
  if (found == objects.end())
    wrong("a handle that there is not");
  return found->second;
}
void *pointer(CUdeviceptr address) {
  return reinterpret_cast<void *>(address);
}
CUresult make(CUmemGenericAllocationHandle *handle, size_t bytes, int device, unsigned devices) {
  if (bytes == 0 || bytes % granularity != 0)
    return CUDA_ERROR_INVALID_VALUE;
  const int file = newMemoryFile(bytes);
  if (file < 0)
    return CUDA_ERROR_OUT_OF_MEMORY;
  const Guard guard(mutex);
  *handle = nextHandle++;
  objects[*handle] = {file, bytes, device, devices, {}, {}};
  return CUDA_SUCCESS;
}

/// The mapping that an address lies in. The table's lock is held.
std::map<CUdeviceptr, Mapped>::iterator mappingOf(CUdeviceptr address) {
  auto after = mapped.upper_bound(address);
  if (after == mapped.begin())
    return mapped.end();
  const auto found = std::prev(after);
  return address < found->first + found->second.bytes ? found : mapped.end();
}

// Functions by the driver's names, without their versions.
namespace call {

CUresult CtxGetCurrent(CUcontext *context) {
  counted(__func__);
  *context = reinterpret_cast<CUcontext>(static_cast<intptr_t>(currentDevice() + 1));
  return CUDA_SUCCESS;
}
CUresult GetErrorName(CUresult, const char **name) {
  counted(__func__);
  *name = "CUDA_ERROR_OF_THE_FAKE";
  return CUDA_SUCCESS;
}
CUresult DeviceGetAttribute(int *value, CUdevice_attribute, CUdevice) {
  counted(__func__);
  *value = std::getenv("CUDA_FAKE_MULTICAST") != nullptr ? 1 : 0;
  return CUDA_SUCCESS;
}
CUresult MemGetAddressRange(CUdeviceptr *base, size_t *bytes, CUdeviceptr address) {
  counted(__func__);
  if (findAllocation(address, *base, *bytes))
    return CUDA_SUCCESS;
  const Guard guard(mutex);
  const auto found = mappingOf(address);
  if (found == mapped.end())
    return CUDA_ERROR_NOT_FOUND;
  *base = found->first;
  *bytes = found->second.bytes;
  return CUDA_SUCCESS;
}
CUresult PointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr address) {
  counted(__func__);
  void *const pool = poolOf(address);
  CUdeviceptr base = 0;
  size_t bytes = 0;
  if (attribute == CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE)
    *static_cast<void **>(value) = pool;
  else if (attribute == CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE)
    *static_cast<int *>(value) = pool == nullptr && findAllocation(address, base, bytes) ? 1 : 0;
  else
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}
CUresult MemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr address) {
  counted(__func__);
  const Guard guard(mutex);
  const auto found = mappingOf(address);
  if (found == mapped.end())
    return CUDA_ERROR_INVALID_VALUE;
  *flags = found->second.access.count(location->id) != 0 ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                                                         : CU_MEM_ACCESS_FLAGS_PROT_NONE;
  return CUDA_SUCCESS;
}
CUresult MemGetAllocationGranularity(size_t *bytes, const CUmemAllocationProp *, CUmemAllocationGranularity_flags) {
  counted(__func__);
  *bytes = granularity;
  return CUDA_SUCCESS;
}
CUresult MemCreate(CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *properties,
                   unsigned long long) {
  counted(__func__);
  return make(handle, bytes, properties->location.id, 0);
}
CUresult MemRelease(CUmemGenericAllocationHandle handle) {
  counted(__func__);
  const Guard guard(mutex);
  ::close(objectOf(handle).file);
  objects.erase(handle);
  return CUDA_SUCCESS;
}
CUresult MemAddressReserve(CUdeviceptr *address, size_t bytes, size_t, CUdeviceptr, unsigned long long) {
  counted(__func__);
  void *const memory = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return CUDA_ERROR_OUT_OF_MEMORY;
  const Guard guard(mutex);
  *address = reinterpret_cast<CUdeviceptr>(memory);
  reserved[*address] = bytes;
  return CUDA_SUCCESS;
}
CUresult MemAddressFree(CUdeviceptr address, size_t bytes) {
  counted(__func__);
  const Guard guard(mutex);
  const auto found = reserved.find(address);
  if (found == reserved.end() || found->second != bytes)
    wrong("an address that is not reserved, or not so much of it");
  reserved.erase(found);
  ::munmap(pointer(address), bytes);
  return CUDA_SUCCESS;
}
CUresult MemMap(CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                unsigned long long) {
  counted(__func__);
  const Guard guard(mutex);
  const Object &object = objectOf(handle);
  const auto found = reserved.find(address);
  if (offset != 0 || bytes != object.bytes || found == reserved.end() || found->second != bytes)
    return CUDA_ERROR_INVALID_VALUE;
  if (object.devices != 0 && std::getenv("CUDA_FAKE_NO_MULTICAST_ROOM") != nullptr)
    return CUDA_ERROR_OUT_OF_MEMORY;
  mapped[address] = {bytes, object.device, {}, handle};
  void *const memory = ::mmap(pointer(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, object.file, 0);
  return memory == MAP_FAILED ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS;
}
CUresult MemUnmap(CUdeviceptr address, size_t bytes) {
  counted(__func__);
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
  const Guard guard(mutex);
  if (mapped.erase(address) == 0)
    wrong("unmapped what is not mapped");
  return ::mmap(pointer(address), bytes, PROT_NONE, flags, -1, 0) == MAP_FAILED ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS;
}
CUresult MemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc *access, size_t count) {
  counted(__func__);
  const Guard guard(mutex);
  for (size_t i = 0; i < count; ++i)
    mapped[address].access.insert(access[i].location.id);
  return count != 0 && ::mprotect(pointer(address), bytes, PROT_READ | PROT_WRITE) == 0 ? CUDA_SUCCESS
                                                                                        : CUDA_ERROR_INVALID_VALUE;
}
/// Returns another handle of what is mapped there.
CUresult MemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *address) {
  counted(__func__);
  const Guard guard(mutex);
  const auto found = mappingOf(reinterpret_cast<CUdeviceptr>(address));
  if (found == mapped.end())
    return CUDA_ERROR_INVALID_VALUE;
  const Object &object = objectOf(found->second.handle);
  *handle = nextHandle++;
  objects[*handle] = {::fcntl(object.file, F_DUPFD_CLOEXEC, 0), object.bytes, object.device, 0, {}, {}};
  return CUDA_SUCCESS;
}
CUresult MemExportToShareableHandle(void *file, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType,
                                    unsigned long long) {
  counted(__func__);
  const Guard guard(mutex);
  *static_cast<int *>(file) = ::fcntl(objectOf(handle).file, F_DUPFD_CLOEXEC, 0);
  return CUDA_SUCCESS;
}
CUresult MemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *file, CUmemAllocationHandleType) {
  counted(__func__);
  const int own = ::fcntl(static_cast<int>(reinterpret_cast<intptr_t>(file)), F_DUPFD_CLOEXEC, 0);
  struct stat info{};
  if (own < 0 || ::fstat(own, &info) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  const Guard guard(mutex);
  *handle = nextHandle++;
  objects[*handle] = {own, static_cast<size_t>(info.st_size), 0, 0, {}, {}};
  return CUDA_SUCCESS;
}
CUresult MulticastGetGranularity(size_t *bytes, const CUmulticastObjectProp *properties, CUmulticastGranularity_flags) {
  counted(__func__);
  *bytes = granularity;
  return properties->numDevices < 2 || properties->size == 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
CUresult MulticastCreate(CUmemGenericAllocationHandle *handle, const CUmulticastObjectProp *properties) {
  counted(__func__);
  return make(handle, properties->size, 0, properties->numDevices);
}
CUresult MulticastAddDevice(CUmemGenericAllocationHandle handle, CUdevice device) {
  counted(__func__);
  const Guard guard(mutex);
  return objectOf(handle).joined.insert(device).second ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
CUresult MulticastBindMem(CUmemGenericAllocationHandle handle, size_t offset, CUmemGenericAllocationHandle memory,
                          size_t memoryOffset, size_t bytes, unsigned long long) {
  counted(__func__);
  const Guard guard(mutex);
  Object &object = objectOf(handle);
  if (offset != 0 || memoryOffset != 0 || bytes % granularity != 0 || bytes > object.bytes ||
      bytes > objectOf(memory).bytes || object.bound.size() >= object.joined.size())
    return CUDA_ERROR_INVALID_VALUE;
  object.bound.push_back(memory);
  return CUDA_SUCCESS;
}
CUresult MulticastUnbind(CUmemGenericAllocationHandle handle, CUdevice device, size_t, size_t) {
  counted(__func__);
  const Guard guard(mutex);
  Object &object = objectOf(handle);
  if (object.joined.count(device) == 0 || object.bound.empty())
    wrong("unbound what is not bound");
  object.bound.pop_back();
  return CUDA_SUCCESS;
}

} // namespace call
} // namespace

void *findDriverFunction(const char *name) {
  const char *const fails = std::getenv("CUDA_FAKE_FAILS");
  if (fails != nullptr && std::strcmp(name, fails) == 0)
    return reinterpret_cast<void *>(+[] { return CUDA_ERROR_NOT_SUPPORTED; });
#define FIND(function)                                                                                                 \
  if (std::strcmp(name, "cu" #function) == 0)                                                                          \
    return reinterpret_cast<void *>(&call::function);
  FIND(CtxGetCurrent)
  FIND(GetErrorName)
  FIND(DeviceGetAttribute)
  FIND(PointerGetAttribute)
  FIND(MemGetAddressRange)
  FIND(MemGetAccess)
  FIND(MemGetAllocationGranularity)
  FIND(MemCreate)
  FIND(MemRelease)
  FIND(MemAddressReserve)
  FIND(MemAddressFree)
  FIND(MemMap)
  FIND(MemUnmap)
  FIND(MemSetAccess)
  FIND(MemRetainAllocationHandle)
  FIND(MemExportToShareableHandle)
  FIND(MemImportFromShareableHandle)
  FIND(MulticastGetGranularity)
  FIND(MulticastCreate)
  FIND(MulticastAddDevice)
  FIND(MulticastBindMem)
  FIND(MulticastUnbind)
#undef FIND
  return nullptr;
}

int deviceOfMapping(CUdeviceptr address) {
  const Guard guard(mutex);
  const auto found = mappingOf(address);
  return found == mapped.end() ? -1 : found->second.device;
}

std::vector<CUdeviceptr> multicastMembers(CUdeviceptr address) {
  const Guard guard(mutex);
  const auto found = mappingOf(address);
  std::vector<CUdeviceptr> members;
  if (found == mapped.end() || objectOf(found->second.handle).devices == 0)
    return members;
  for (const CUmemGenericAllocationHandle memory : objectOf(found->second.handle).bound)
    for (const auto &[base, mapping] : mapped)
      if (mapping.handle == memory)
        members.push_back(base + (address - found->first));
  return members;
}

void reportDriverLeftovers() {
  if (!objects.empty() || !reserved.empty())
    std::fprintf(stderr, "cuda fake: %zu handles and %zu addresses are left\n", objects.size(), reserved.size());
}

} // namespace cuda_fake
