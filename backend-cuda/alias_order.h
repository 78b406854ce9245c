// A multicast mapping and the addresses of the devices in it name the same memory by different addresses. PTX orders
// accesses through one against those through the other only where a proxy fence lies on the way from the first to the
// second. Who waits for a channel, a semaphore or a barrier fences (sync.cuh): that is on every way between blocks.
// Here the rest is found: accesses of one block that only block-wide syncs order.
#pragma once

#include "ir/program.h"

#include <cstddef>
#include <vector>

namespace mscclc::cuda {

/// Marks in `fenceBefore` (one for each operation of the block, marks there are kept) the operations before which every
/// thread of block `block` of rank `rank` has to fence. `syncBefore` marks operations before which the block
/// synchronises, besides those that say so. What users do before the launch counts as plain accesses to the rank's own
/// input and output.
void markUnfencedAliases(const ir::Program &program, std::uint32_t rank, const ir::ThreadBlock &block,
                         const std::vector<char> &syncBefore, std::vector<char> &fenceBefore);

} // namespace mscclc::cuda
