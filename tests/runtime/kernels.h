// Kernels for tests of the runtime, written by hand for the CPU stand-in: a block has one thread.
#pragma once

#include "mscclc/runtime_abi.h"

namespace testing {

/// AllGather in place, all pairs through memory channels. Reads are ordered before the peers' next launch.
const MscclcKernel &gather4();
const MscclcKernel &gather8();
const MscclcKernel &gather72();
/// The same, but it omits rank 0's share on rank 3.
const MscclcKernel &wrong4();
/// AllReduce of f32 out of place, with LL8 packets in double scratch. Nothing else orders launches.
const MscclcKernel &packets4();
/// SendRecv through port channels: 16-byte puts, some of them with a flush, and one signal for all of them.
const MscclcKernel &ports4();
/// Two blocks that take turns by semaphores, and meet at a barrier; each counts in scratch, which is copied to the
/// output.
const MscclcKernel &turns2();
/// Rank 1 waits for a signal on memory channel 0 that rank 0 sends only in messages of more than 64 bytes.
const MscclcKernel &stuck2();
/// Each rank sends a signal to each other one for every 1024 bytes, and waits for as many.
const MscclcKernel &sized4();
/// Two kernels: one sends the other rank a signal, and one waits for that of the other rank. In messages of more than
/// 64 bytes they come in the wrong order.
const MscclcKernel &halves2();
/// Waits for a release of a semaphore in messages of more than 64 bytes that never comes.
const MscclcKernel &starved1();

} // namespace testing
