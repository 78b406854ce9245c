// What two blocks must have in common to share code: everything but the numbers that a formula can supply.
#pragma once

#include "ir/op_memory.h"

#include <cstdint>

namespace mscclc::cuda {

/// Hash of an operation without its holes: peers, chunk indexes, channels, semaphores, barrier ids and places in a
/// thread-block group may differ.
std::uint64_t shapeHash(const ir::Rank &rank, const ir::ThreadBlock &block, const ir::Op &op);
/// The same of a whole block.
std::uint64_t shapeHash(const ir::Rank &rank, const ir::ThreadBlock &block);

} // namespace mscclc::cuda
