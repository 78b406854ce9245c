// Which functions of hooks are called by the operation that makes their value.
#pragma once

#include "ir/program.h"

#include <cstdint>
#include <vector>

namespace mscclc::cuda {

/// Returns by operation of a block: how many operations further the apply is that it does, too; 0: none. Such an
/// operation stores the chunk of the apply first, in the same slices, and only block-wide syncs are between them. The
/// hook takes elements. So each thread has the finished elements in registers, and what it would store, load and store
/// again is stored once. Nobody else sees the chunk in between, as that would be a race, which the proof excludes.
std::vector<std::uint32_t> fusedHooks(const ir::Program &program, std::uint32_t rank, std::size_t block);

} // namespace mscclc::cuda
