// Replaces signals through the switch by signals to each member of the group.
//
// A counter of the switch counts the arrivals of all members together. In a group of m members, the n-th wait of a rank
// passes after n · m arrivals (semaphore_device.hpp, SwitchDevice2DeviceSemaphoreDeviceHandle). The counter does not
// show which members have arrived. Suppose that each member signals and waits in turn, beginning with a signal, in one
// thread block. Then no member signals n + 1 times before its own n-th wait has passed. So the first n · m arrivals are
// n of each member, and the counter is equivalent to one signal of each member. checkSwitchSignals() of passes/verify
// requires these turns. Code that runs, proves or times a program replaces these signals by memory channels: one for
// each pair of members, with one signal and one wait through each. One thread does them all, as in the executor
// (handleMultiSignal, execution_kernel.hpp), or one thread for each channel, as in emitted kernels.
#pragma once

#include "ir/program.h"

namespace mscclc::ir {

/// True if some thread block signals or waits through a switch channel.
bool hasSwitchSignals(const Program &program);

/// How threads do the signals that replace one signal through the switch: one thread does all, or each has a thread.
enum class SpelledBy : std::uint8_t { OneThread, ThreadEach };

/// Returns `program` with signals to each member in place of signals through the switch. The added channels follow the
/// ranks' own memory channels (Rank::switchSignals). The numbers of operations may change.
Program spellOutSwitchSignals(const Program &program, SpelledBy by);

} // namespace mscclc::ir
