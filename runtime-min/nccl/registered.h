// Memory registered by the program with its communicators, and memory allocated by NCCL. Kernels work on it directly if
// the data of all ranks is in such memory.
#pragma once

#include "call.h"

namespace mscclc::nccl {

struct Registered {
  uint64_t id = 0; ///< unique in this process; never reused
  /// For a symmetric window: its number among the windows of its communicator, which is the same on all ranks; else 0.
  /// NCCL requires that all ranks pass data in such windows together, at the same offset.
  uint64_t window = 0;
  char *begin = nullptr;
  uint64_t bytes = 0;
};

/// A call that registers memory. NCCL sets the handle when the call, or its group, has completed. For a non-blocking
/// communicator, ncclCommGetAsyncError reports that.
struct Registration {
  Comm comm = nullptr;
  void *memory = nullptr;
  uint64_t bytes = 0;
  void **handle = nullptr;
  bool isSymmetric = false;
};

/// Notes a call that has completed. If the handle is not set, NCCL has registered nothing.
void noteRegistration(const Registration &registration);
/// Notes a call that is in progress. endAwaited() must end it before another call on the communicator.
void awaitRegistration(const Registration &registration);
bool awaitsRegistrations(Comm comm);
/// Ends the calls of the communicator that were in progress. If `isWell`, they have succeeded and are noted.
void endAwaited(Comm comm, bool isWell);
void forgetRegistration(Comm comm, const void *handle);
/// Forgets the registrations of a communicator that ends.
void forgetRegistrations(Comm comm);
/// Notes memory of ncclMemAlloc.
void noteAllocation(void *memory, uint64_t bytes);
void forgetAllocation(const void *memory);

/// Returns the memory that contains [pointer, pointer + bytes). If `ofAllRanks`, only the communicator's symmetric
/// windows count. Otherwise all memory registered with the communicator counts, and all memory of ncclMemAlloc.
std::optional<Registered> findRegistered(Comm comm, const void *pointer, uint64_t bytes, bool ofAllRanks);
/// True if the memory is still registered.
bool isRegistered(uint64_t id);

} // namespace mscclc::nccl
