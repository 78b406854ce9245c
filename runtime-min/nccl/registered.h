// Memory that the program has registered with its communicators, and memory that NCCL has allocated: kernels work on it
// directly, where all ranks' data lies in such.
#pragma once

#include "call.h"

namespace mscclc::nccl {

struct Registered {
  uint64_t id = 0; ///< no other memory of this process has it, also later
  /// Of a symmetric window, its number among those of its communicator, which is the same on all ranks; else 0. Ranks
  /// pass data in such windows all together and at one offset, as NCCL demands.
  uint64_t window = 0;
  char *begin = nullptr;
  uint64_t bytes = 0;
};

/// A call that registers memory. NCCL sets the handle when the call, or its group, is through; where a communicator
/// does not block, when ncclCommGetAsyncError says so.
struct Registration {
  Comm comm = nullptr;
  void *memory = nullptr;
  uint64_t bytes = 0;
  void **handle = nullptr;
  bool isSymmetric = false;
};

/// The call is through. Without a handle, NCCL has registered nothing.
void noteRegistration(const Registration &registration);
/// The call is under way; the communicator ends those before it makes another.
void awaitRegistration(const Registration &registration);
bool awaitsRegistrations(Comm comm);
/// The communicator is through with what was under way: notes it, if all is well.
void endAwaited(Comm comm, bool isWell);
void forgetRegistration(Comm comm, const void *handle);
/// The communicator ends.
void forgetRegistrations(Comm comm);
/// Memory of ncclMemAlloc.
void noteAllocation(void *memory, uint64_t bytes);
void forgetAllocation(const void *memory);

/// The memory in which [pointer, pointer + bytes) lies: of the communicator's windows, if all ranks' are asked for;
/// else anything that is registered with it or allocated.
std::optional<Registered> findRegistered(Comm comm, const void *pointer, uint64_t bytes, bool ofAllRanks);
/// Whether it is still there.
bool isRegistered(uint64_t id);

} // namespace mscclc::nccl
