// The kernels for calls: kernels of the folder MSCCLC_KERNELS, and kernels that the program has registered.
#pragma once

#include "call.h"

#include <string>
#include <vector>

namespace mscclc::nccl {

/// The choice between a kernel and NCCL for a call. It depends only on the call's shape, so all ranks with the same
/// kernels decide the same.
struct Choice {
  const MscclcKernel *kernel = nullptr; ///< null: the real NCCL
  uint64_t message = 0;                 ///< bytes of the launch's message, which may be longer than the call's
  uint32_t dtype = 0;
  uint32_t reduceOp = 0;
  bool takesOwnMemory = false; ///< the kernel may work directly on the data of the call
  std::string why;             ///< the reason for the choice, in words
};

/// A kernel that the program has registered for calls of some sizes and types.
struct ProgramKernel {
  const MscclcKernel *kernel = nullptr;
  std::string tags; ///< comma-separated; only the program's selector uses them
  uint64_t min = 0; ///< bytes of the message; `min` and `max` are included
  uint64_t max = UINT64_MAX;
  int32_t priority = 0;
  std::vector<std::string> types; ///< names of types; empty: all types
};
/// Registers a kernel. Returns false if it is too late: ranks have already agreed on the kernels for this number of
/// ranks.
bool registerKernel(ProgramKernel registration);

/// Returns the limit of a rank's input and output in bytes, in a communicator of `ranks` ranks. It is MSCCLC_WINDOW if
/// that is set. Otherwise it is the most that any kernel for so many ranks needs at its listed sizes. A kernel without
/// a limit on its messages counts with 64M.
uint64_t windowBytes(uint32_t ranks);
/// Loads the kernels for this many ranks: those in the list, and those of the program. This happens once, at the first
/// call of any function here. Returns a digest, which differs between ranks with different kernels, windows or
/// versions.
uint64_t loadKernels(uint32_t ranks);
/// True if there is any kernel for this collective.
bool mayServe(Kind kind, uint32_t ranks);
/// Chooses a kernel or NCCL for a call. The choice is made once for each shape and selector.
Choice choose(const Shape &shape);
/// Returns the size, in bytes, of the largest message for which a kernel is used, in whole shares. For a kernel of any
/// size it is windowBytes, which may be larger because of the listed sizes of other kernels.
uint64_t largestMessage(const MscclcKernel &kernel);
void setSelector(MscclcSelectFunction function, void *user);

} // namespace mscclc::nccl
