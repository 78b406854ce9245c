// Finds the proxy fences that multicast memory needs.
//
// A multicast mapping and the addresses on the devices name the same memory differently. PTX orders an access through
// one of them before an access through the other only if a proxy fence is on the path between them. A thread that waits
// for a channel, a semaphore or a barrier fences (sync.cuh). So every path between blocks has a fence, unless packets
// alone make the path. This file finds the other cases:
// - accesses of one block with only block-wide syncs between them,
// - accesses of a block before accesses of users or of later launches, with only the end of the launch between them.
// In a kernel with packets, the fence at the end is also on the paths that packets make from launch to launch.
#pragma once

#include "ir/program.h"

#include <cstddef>
#include <vector>

namespace mscclc::cuda {

/// Marks in `fenceBefore` the operations before which every thread of block `block` of rank `rank` must fence. Each
/// vector has an entry for each operation of the block; marks in it are kept. `syncBefore` marks operations before
/// which the block synchronises, in addition to those that ask for it. Accesses before the launch, of users and of
/// earlier launches, count as plain accesses to the rank's own buffers, and so do those after it. Returns true if the
/// block must fence at its end. `hasPackets`: some block of the program accesses packets.
bool markUnfencedAliases(const ir::Program &program, std::uint32_t rank, const ir::ThreadBlock &block, bool hasPackets,
                         const std::vector<char> &syncBefore, std::vector<char> &fenceBefore);

} // namespace mscclc::cuda
