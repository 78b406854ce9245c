// The runtime's functions that create memory, describe it, and share it between processes.
#include "fake.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <fcntl.h>
#include <map>
#include <set>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace cuda_fake {
namespace {

struct Allocation {
  size_t bytes;
  int file;
  std::string importedAs; ///< empty: allocated here
  unsigned opened = 0;
  int device = 0;
  bool pooled = false; ///< of the device's pool
};
std::map<char *, Allocation> allocations;

/// A device's pool of memory, and the other devices that may access it.
struct Pool {
  int device = 0;
  std::set<int> access;
};
std::map<int, Pool> pools;

/// The contents of a cudaIpcMemHandle_t.
struct Handle {
  int process, file;
  size_t bytes;
};

using Guard = std::lock_guard<std::mutex>;

void *map(int file, size_t bytes) {
  void *const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}
void drop(std::map<char *, Allocation>::iterator entry) {
  ::munmap(entry->first, entry->second.bytes);
  ::close(entry->second.file);
  allocations.erase(entry);
}
/// The allocation that an address lies in. The tables' lock is held.
std::map<char *, Allocation>::iterator allocationOf(CUdeviceptr address) {
  auto after = allocations.upper_bound(reinterpret_cast<char *>(address));
  if (after == allocations.begin())
    return allocations.end();
  const auto found = std::prev(after);
  return address < reinterpret_cast<CUdeviceptr>(found->first) + found->second.bytes ? found : allocations.end();
}

} // namespace

int newMemoryFile(size_t bytes) {
  const int file = ::memfd_create("cuda fake", MFD_CLOEXEC);
  if (file >= 0 && ::ftruncate(file, static_cast<off_t>(bytes)) == 0)
    return file;
  ::close(file);
  return -1;
}
bool findAllocation(CUdeviceptr address, CUdeviceptr &base, size_t &bytes) {
  const Guard guard(mutex);
  const auto found = allocationOf(address);
  if (found == allocations.end())
    return false;
  base = reinterpret_cast<CUdeviceptr>(found->first);
  bytes = found->second.bytes;
  return true;
}
void *poolOf(CUdeviceptr address) {
  const Guard guard(mutex);
  const auto found = allocationOf(address);
  return found == allocations.end() || !found->second.pooled ? nullptr : &pools[found->second.device];
}

void reportAllocations() {
  if (!allocations.empty())
    std::fprintf(stderr, "cuda fake: %zu allocations are left\n", allocations.size());
}

} // namespace cuda_fake

using namespace cuda_fake;

extern "C" {

cudaError_t cudaMalloc(void **memory, size_t bytes) {
  counted(__func__);
  needDevice("memory without a device");
  needNoCapture("memory while a stream is captured");
  if (bytes == 0)
    wrong("no bytes of memory");
  const int file = newMemoryFile(bytes);
  *memory = file < 0 ? nullptr : map(file, bytes);
  if (*memory == nullptr)
    return cudaErrorMemoryAllocation;
  std::memset(*memory, 0xee, bytes);
  const Guard guard(mutex);
  allocations[static_cast<char *>(*memory)] = {bytes, file, {}, 0, currentDevice(), false};
  return cudaSuccess;
}
/// Of all devices together, without what is mapped by cuMemMap.
cudaError_t cudaMemGetInfo(size_t *available, size_t *all) {
  *available = *all = size_t{80} << 30;
  const Guard guard(mutex);
  for (const auto &[begin, allocation] : allocations)
    *available -= allocation.bytes;
  return cudaSuccess;
}
cudaError_t cudaMallocAsync(void **memory, size_t bytes, cudaStream_t) {
  const cudaError_t result = cudaMalloc(memory, bytes);
  const Guard guard(mutex);
  if (result == cudaSuccess)
    allocations[static_cast<char *>(*memory)].pooled = true;
  pools[currentDevice()].device = currentDevice();
  return result;
}
cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags *flags, cudaMemPool_t pool, cudaMemLocation *location) {
  counted(__func__);
  const auto *const of = reinterpret_cast<const Pool *>(pool);
  *flags = location->id == of->device || of->access.count(location->id) != 0 ? cudaMemAccessFlagsProtReadWrite
                                                                             : cudaMemAccessFlagsProtNone;
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc *access, size_t count) {
  counted(__func__);
  if (std::getenv("CUDA_FAKE_CLOSED_POOLS") != nullptr)
    return cudaErrorInvalidDevice;
  for (size_t i = 0; i < count; ++i)
    reinterpret_cast<Pool *>(pool)->access.insert(access[i].location.id);
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *memory) {
  counted(__func__);
  *attributes = {};
  const auto address = reinterpret_cast<CUdeviceptr>(memory);
  attributes->device = deviceOfMapping(address);
  const Guard guard(mutex);
  if (const auto found = allocationOf(address); found != allocations.end())
    attributes->device = found->second.device;
  attributes->type = attributes->device < 0 ? cudaMemoryTypeUnregistered : cudaMemoryTypeDevice;
  return cudaSuccess;
}
cudaError_t cudaFree(void *memory) {
  counted(__func__);
  const Guard guard(mutex);
  const auto found = allocations.find(static_cast<char *>(memory));
  if (memory == nullptr)
    return cudaSuccess;
  if (found == allocations.end() || !found->second.importedAs.empty())
    wrong("freed what was not allocated");
  drop(found);
  return cudaSuccess;
}
cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned) {
  counted(__func__);
  *memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  std::memset(*memory, 0xee, bytes);
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void *memory) {
  counted(__func__);
  std::free(memory);
  return cudaSuccess;
}
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *memory) {
  counted(__func__);
  const Guard guard(mutex);
  const auto found = allocations.find(static_cast<char *>(memory));
  if (found == allocations.end() || found->second.pooled)
    return cudaErrorInvalidValue;
  const Handle made{::getpid(), found->second.file, found->second.bytes};
  std::memset(handle, 0, sizeof(*handle));
  std::memcpy(handle, &made, sizeof(made));
  return cudaSuccess;
}
cudaError_t cudaIpcOpenMemHandle(void **memory, cudaIpcMemHandle_t handle, unsigned flags) {
  counted(__func__);
  needDevice("memory of another process without a device");
  Handle wanted;
  std::memcpy(&wanted, &handle, sizeof(wanted));
  const std::string path = "/proc/" + std::to_string(wanted.process) + "/fd/" + std::to_string(wanted.file);
  const std::string name = path + " on " + std::to_string(currentDevice());
  const Guard guard(mutex);
  for (auto &[address, allocation] : allocations)
    if (allocation.importedAs == name) { // opened again: the same address
      ++allocation.opened;
      *memory = address;
      return cudaSuccess;
    }
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  *memory = file < 0 || flags != cudaIpcMemLazyEnablePeerAccess ? nullptr : map(file, wanted.bytes);
  if (*memory == nullptr)
    return cudaErrorInvalidResourceHandle;
  allocations[static_cast<char *>(*memory)] = {wanted.bytes, file, name, 1, currentDevice(), false};
  return cudaSuccess;
}
cudaError_t cudaIpcCloseMemHandle(void *memory) {
  counted(__func__);
  const Guard guard(mutex);
  const auto found = allocations.find(static_cast<char *>(memory));
  if (found == allocations.end() || found->second.importedAs.empty())
    wrong("closed what was not opened");
  if (--found->second.opened == 0)
    drop(found);
  return cudaSuccess;
}
}
