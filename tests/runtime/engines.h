// The engine that tests run on: MSCCLC_TEST_NCCL names the fake NCCL; without it they run on the local engine.
#pragma once

#include "mscclc/runtime.hpp"

#include <atomic>
#include <cstdlib>
#include <deque>
#include <dlfcn.h>
#include <mutex>
#include <string>
#include <unistd.h>
#include <vector>

namespace testing {

using namespace mscclc::runtime;

/// dlopen's handle of the fake, or null.
inline void *ncclFake() {
  static void *const handle = [] {
    const char *path = std::getenv("MSCCLC_TEST_NCCL");
    return path == nullptr ? nullptr : ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
  }();
  return handle;
}
template <class Function> Function *ofDouble(const char *name) {
  return reinterpret_cast<Function *>(::dlsym(ncclFake(), name));
}

/// A rendezvous that no other test has; processes that fork afterwards can meet there.
inline std::string newPlace() {
  static std::atomic<int> count{0};
  const std::string place = "@mscclc-test-" + std::to_string(::getpid()) + "-" + std::to_string(count++);
  if (ncclFake() != nullptr)
    ofDouble<void(const char *)>("ncclFakeBoard")(place.c_str());
  return place;
}

/// If tests run on NCCL: makes the local ranks those of NCCL communicators that meet at `place`.
inline void useNccl(CommunicatorOptions &options, const std::string &place) {
  static std::mutex mutex;
  static std::deque<std::vector<void *>> comms; // outlive the communicators
  if (ncclFake() == nullptr || options.ranks == 0)
    return;
  const std::lock_guard<std::mutex> lock(mutex);
  if (options.local_ranks == 0)
    options.local_ranks = options.ranks;
  comms.emplace_back();
  for (uint32_t i = 0; i < options.local_ranks; ++i)
    comms.back().push_back(ofDouble<void *(const char *, int, int)>("ncclFakeInit")(
        place.c_str(), static_cast<int>(options.ranks), static_cast<int>(options.first_local_rank + i)));
  options.nccl = comms.back().data();
  options.nccl_library = ncclFake();
}

/// Returns memory of a rank that the caller owns, and that the engine can register. It is freed when the process ends.
inline void *callersMemory(uint64_t bytes) {
  void *memory = nullptr;
  if (ncclFake() != nullptr)
    ofDouble<int(void **, size_t)>("ncclMemAlloc")(&memory, bytes);
  else
    memory = std::malloc(bytes);
  return memory;
}

} // namespace testing
