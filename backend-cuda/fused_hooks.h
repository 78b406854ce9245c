// Which functions of hooks are called by the operation that makes their value.
#pragma once

#include "ir/program.h"

#include <cstdint>
#include <vector>

namespace mscclc::cuda {

/// True if the hook of this apply takes elements, rather than rows or blocks.
bool takesElements(const ir::Program &program, const ir::Op &apply);

/// Returns by operation of a block: how many operations further the apply is that it does, too; 0: none. Such an
/// operation stores the chunk of the apply first, in the same slices, and only block-wide syncs are between them. So an
/// apply after a pipeline is no part of its body. Each thread has the finished elements in registers, and what it would
/// store, load and store again is stored once. Nobody else sees the chunk in between, as that would be a race, which
/// the proof excludes.
///
/// Where a hook takes rows or blocks, the operation reads packets and sends nothing. Threads then have other elements
/// than in other operations, so block-wide syncs belong before and after it. A thread polls 8 elements of some ranks at
/// once, instead of one payload of all ranks, so it polls equally often for each element.
///
/// With a wire format no function is called so: elements are encoded there, or decoded.
std::vector<std::uint32_t> fusedHooks(const ir::Program &program, std::uint32_t rank, std::size_t block);

} // namespace mscclc::cuda
