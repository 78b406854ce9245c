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
/// Where a hook takes rows or blocks, the operation reads the packets of one rank and sends nothing. Threads then have
/// other elements than in other operations, so block-wide syncs belong before and after it. A part has 256 threads at
/// most, and each polls 8 elements at once. With packets of several ranks these would be more polls one after another
/// than in a pass of all threads, and more registers than there are: 8 ranks that send f32 spill 112 bytes.
std::vector<std::uint32_t> fusedHooks(const ir::Program &program, std::uint32_t rank, std::size_t block);

} // namespace mscclc::cuda
