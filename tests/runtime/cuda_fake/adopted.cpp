// Tests which memory of the program the runtime accepts, on the fake CUDA.
#include "driver_function.h"
#include "fake.h"
#include "fixture.h"

#include <cstdlib>
#include <cuda.h>
#include <cuda_runtime.h>

using namespace testing;

namespace {

constexpr uint32_t ranks = 4;
constexpr size_t bytes = cuda_fake::granularity;

class Adopting {
public:
  Adopting() : communicator_(options()) {}
  /// Returns the error for this memory; "" if it is accepted.
  std::string adopt(const std::vector<void *> &pointers) {
    MscclcBuffer *buffer = nullptr;
    const int32_t code = mscclc_buffer_register(communicator_.get(), pointers.data(), bytes, &buffer);
    if (code != MSCCLC_OK)
      return mscclc_error_name(code) + std::string(": ") + mscclc_last_error();
    CHECK(mscclc_buffer_release(buffer) == MSCCLC_OK);
    return "";
  }

private:
  static CommunicatorOptions options() {
    CommunicatorOptions made(ranks);
    made.platform = MSCCLC_PLATFORM_CUDA;
    return made;
  }
  Communicator communicator_;
};

/// Memory of each device by `allocate(void **)`, freed at the end.
template <class Allocate> class Memory {
public:
  explicit Memory(Allocate allocate) : pointers(ranks) {
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      cudaSetDevice(static_cast<int>(rank));
      REQUIRE(allocate(&pointers[rank]) == cudaSuccess);
    }
  }
  ~Memory() {
    for (void *pointer : pointers)
      cudaFree(pointer);
  }
  std::vector<void *> pointers;
};

template <class Function> Function *driver(const char *name) {
  auto *const function = testing::driverFunction<Function>(name);
  REQUIRE(function != nullptr);
  return function;
}
#define DRIVER(name) driver<decltype(::name)>(#name)

/// A mapping of device 0 that gives devices access.
class Mapped {
public:
  explicit Mapped(std::vector<int> access) {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = 0;
    REQUIRE(DRIVER(cuMemAddressReserve)(&begin, bytes, 0, 0, 0) == CUDA_SUCCESS);
    REQUIRE(DRIVER(cuMemCreate)(&handle, bytes, &properties, 0) == CUDA_SUCCESS);
    REQUIRE(DRIVER(cuMemMap)(begin, bytes, 0, handle, 0) == CUDA_SUCCESS);
    for (const int device : access) {
      CUmemAccessDesc entry{};
      entry.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
      entry.location.id = device;
      entry.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
      REQUIRE(DRIVER(cuMemSetAccess)(begin, bytes, &entry, 1) == CUDA_SUCCESS);
    }
  }
  ~Mapped() {
    DRIVER(cuMemUnmap)(begin, bytes);
    DRIVER(cuMemAddressFree)(begin, bytes);
    DRIVER(cuMemRelease)(handle);
  }
  CUdeviceptr begin = 0;
  CUmemGenericAllocationHandle handle = 0;
};

cudaError_t plain(void **memory) {
  return cudaMalloc(memory, bytes);
}
cudaError_t pooled(void **memory) {
  return cudaMallocAsync(memory, bytes, nullptr);
}

} // namespace

TEST_CASE("Memory of cudaMalloc is taken in, on the devices of its ranks") {
  Adopting adopting;
  Memory memory(plain);
  CHECK(adopting.adopt(memory.pointers) == "");
  std::swap(memory.pointers[1], memory.pointers[2]);
  CHECK(adopting.adopt(memory.pointers) ==
        "MSCCLC_ERROR_ARGUMENT: register a buffer of 2097152 bytes, rank 1: the memory is on device 2, and its rank on "
        "device 1");
}

TEST_CASE("Memory that no device has is refused") {
  Adopting adopting;
  Memory memory(plain);
  std::vector<char> own(bytes);
  std::vector<void *> pointers = memory.pointers;
  pointers[3] = own.data();
  CHECK(contains(adopting.adopt(pointers), "rank 3: the memory is not CUDA's, and device 3 cannot access it"));
}

TEST_CASE("A pool of memory is told to let the other devices in; if it cannot, that is said") {
  Adopting adopting;
  Memory memory(pooled);
  ::setenv("CUDA_FAKE_CLOSED_POOLS", "1", 1);
  const std::string refused = adopting.adopt(memory.pointers);
  CHECK(contains(refused, "MSCCLC_ERROR_UNSUPPORTED"));
  CHECK(contains(refused, "rank 0: the memory is of a pool on device 0 which device 1 cannot access"));
  ::unsetenv("CUDA_FAKE_CLOSED_POOLS");
  CHECK(adopting.adopt(memory.pointers) == "");
  ::setenv("CUDA_FAKE_CLOSED_POOLS", "1", 1);
  CHECK(adopting.adopt(memory.pointers) == ""); // it has let them in
  ::unsetenv("CUDA_FAKE_CLOSED_POOLS");
}

TEST_CASE("Mapped memory must let all devices in") {
  Adopting adopting;
  Memory memory(plain);
  std::vector<void *> pointers = memory.pointers;
  const Mapped open({0, 1, 2, 3}), closed({0, 1, 3});
  pointers[0] = reinterpret_cast<void *>(open.begin);
  CHECK(adopting.adopt(pointers) == "");
  pointers[0] = reinterpret_cast<void *>(closed.begin);
  const std::string refused = adopting.adopt(pointers);
  CHECK(contains(refused, "MSCCLC_ERROR_UNSUPPORTED"));
  CHECK(contains(refused, "rank 0: the memory was mapped on device 0 by cuMemMap, 0 bytes on, without access for "
                          "device 2"));
}
