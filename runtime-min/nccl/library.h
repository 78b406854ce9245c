// The kernels that calls are picked from: those of the folder MSCCLC_KERNELS, and those that the program has
// registered.
#pragma once

#include "call.h"

#include <string>
#include <vector>

namespace mscclc::nccl {

/// What runs a call. Depends on nothing but its shape, so all ranks that have the same kernels come to the same.
struct Choice {
  const MscclcKernel *kernel = nullptr; ///< null: the real NCCL
  uint64_t message = 0;                 ///< bytes of the launch: those of the call, or more at its end
  uint32_t dtype = 0;
  uint32_t reduceOp = 0;
  bool takesOwnMemory = false; ///< the kernel may work on the data of the call itself
  std::string why;             ///< in words
};

/// A kernel that the program has for calls of some sizes and types.
struct ProgramKernel {
  const MscclcKernel *kernel = nullptr;
  std::string tags; ///< with commas; only the program's selector looks at them
  uint64_t min = 0; ///< bytes of the message, both included
  uint64_t max = UINT64_MAX;
  int32_t priority = 0;
  std::vector<std::string> types; ///< names; empty: all
};
/// False: the ranks of its number have agreed on what there is.
bool registerKernel(ProgramKernel registration);

/// Bytes of a rank's input and output at most, in a communicator of so many ranks: MSCCLC_WINDOW, or what the kernels
/// for so many need for the sizes that they are listed for, at most 64M.
uint64_t windowBytes(uint32_t ranks);
/// Loads what is listed for this many ranks, and takes what the program has registered for them: once, at the first
/// call of any function here. The result differs where ranks have other kernels, window or version.
uint64_t loadKernels(uint32_t ranks);
/// Whether there is a kernel of this collective at all.
bool mayServe(Kind kind, uint32_t ranks);
/// The choice is made once for each shape and selector.
Choice choose(const Shape &shape);
/// The largest message that a kernel is picked for, in whole shares.
uint64_t largestMessage(const MscclcKernel &kernel);
void setSelector(MscclcSelectFunction function, void *user);

} // namespace mscclc::nccl
