// Sums whose bits depend on nothing but the data: what MSCCLC_INVARIANT asks for.
#pragma once

#include "call.h"

namespace mscclc::nccl {

/// The value of MSCCLC_INVARIANT.
enum class Invariance : uint8_t {
  Off,   ///< unset, or 0: any kernel, or NCCL, runs a call
  Warns, ///< 1: only kernels of the order that the list names add floats; other calls go to NCCL, with a warning
  Strict ///< strict: such a call fails instead
};
Invariance invariance();

/// True if `shape` adds or multiplies floats, so that the bits of its result depend on the order.
bool hasOrder(const Shape &shape);

/// Decides on a call that no kernel of one order runs. `why` says that NCCL runs it, and the reason. Returns false if
/// NCCL runs the call; the order of NCCL's sums is its own, so warns about that if MSCCLC_INVARIANT is set. Returns
/// true if MSCCLC_INVARIANT is strict; then the call must fail, and refusedCall() has the text. All ranks decide the
/// same.
bool isRefused(const Shape &shape, const std::string &why);

/// Describes this thread's last call if it was refused. Empty if it was not.
std::string &refusedCall();

} // namespace mscclc::nccl
