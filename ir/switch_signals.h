// Replaces signals through the switch by signals to each member of the group.
//
// A counter of the switch counts the arrivals of all members together. The n-th wait of a rank passes when there are n
// times as many arrivals as members (semaphore_device.hpp, SwitchDevice2DeviceSemaphoreDeviceHandle). The counter does
// not show which members have arrived. Suppose that each member signals and waits in turn, beginning with a signal, in
// one thread block. Then no member signals n + 1 times before its own n-th wait has passed. So the first n times as
// many arrivals as members are n of each member, and the counter is equivalent to one signal of each member.
// checkSwitchSignals() of passes/verify requires these turns. Code that runs, proves or times a program replaces these
// signals: a memory channel for each pair of members, with one signal and one wait through each. One thread does them,
// as in the executor (handleMultiSignal, execution_kernel.hpp), or one thread for each channel, as in emitted kernels.
#pragma once

#include "ir/program.h"

namespace mscclc::ir {

/// True if some thread block signals or waits through a switch channel.
bool hasSwitchSignals(const Program &program);

/// The threads that do the signals which replace a signal through the switch.
enum class SpelledBy : std::uint8_t { OneThread, ThreadEach };

/// Returns `program` with signals to each member in place of those through the switch. The added channels follow the
/// ranks' own memory channels (Rank::switchSignals). The numbers of operations may change.
Program spellOutSwitchSignals(const Program &program, SpelledBy by);

} // namespace mscclc::ir
