// MSCCLC_INVARIANT asks for sums whose bits depend only on the data.
#pragma once

#include "call.h"

namespace mscclc::nccl {

/// The value of MSCCLC_INVARIANT.
enum class Invariance : uint8_t {
  Off,   ///< unset, or 0: any kernel, or NCCL, runs a call
  Warns, ///< 1: only kernels that add in the listed order run sums of floats; NCCL runs other sums, with a warning
  Strict ///< strict: such a call fails instead
};
Invariance invariance();

/// True if `shape` adds or multiplies floats, so that the bits of its result depend on the order.
bool hasOrder(const Shape &shape);

/// Decides what happens to a call if no kernel with a listed order can run it. Returns false if NCCL runs the call.
/// NCCL's sums have an order of their own, so this warns if MSCCLC_INVARIANT is set. Returns true if MSCCLC_INVARIANT
/// is strict: then the call must fail, and refusedCall() has the text. `why` says that NCCL runs the call, and the
/// reason. All ranks decide the same.
bool isRefused(const Shape &shape, const std::string &why);

/// Describes this thread's last call if it was refused. Empty if it was not.
std::string &refusedCall();

} // namespace mscclc::nccl
