// Finds the hooks that are called by the operation that computes their values.
#pragma once

#include "ir/program.h"

#include <cstdint>
#include <vector>

namespace mscclc::cuda {

/// True if the hook of this apply takes elements, rather than rows or blocks.
bool takesElements(const ir::Program &program, const ir::Op &apply);

/// Returns a number for each operation of a block. If the operation also does a later apply, this is the distance to
/// the apply, in operations; otherwise 0. The first destination of such an operation is the chunk of the apply, in the
/// same slice of a thread-block group, and only block-wide syncs are between the two. If one of the two is in a
/// pipeline, both are in the same one. Each thread has the finished elements in registers. So it stores them once,
/// instead of storing, loading and storing them again. No other block accesses the chunk in between: that would be a
/// race, which the proof excludes.
///
/// If a hook takes rows or blocks, the operation reads packets and sends nothing. It gives threads other elements than
/// other operations do, so block-wide syncs belong before and after it. A thread then polls 8 elements of some ranks at
/// once, instead of one payload of all ranks. The number of polls for each element stays the same.
///
/// With a wire format, no operation also does an apply, because operations then encode or decode elements.
std::vector<std::uint32_t> fusedHooks(const ir::Program &program, std::uint32_t rank, std::size_t block);

} // namespace mscclc::cuda
