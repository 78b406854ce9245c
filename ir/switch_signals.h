// Signals through the switch, as signals to each member of the group.
//
// A counter of the switch counts the arrivals of all members, and the n-th wait of a rank passes when there are n times
// as many as members (semaphore_device.hpp, SwitchDevice2DeviceSemaphoreDeviceHandle). It does not count who has come.
// Where each member signals and waits by turns, beginning with a signal, in one thread block, that is the same as one
// signal of each member: nobody signals n + 1 times before its own n-th wait has passed, so of the first n times as
// many arrivals as members each member has made n. checkSwitchSignals() of passes/verify asks for these turns. Whoever
// runs, proves or times a program has it spelled out: as many memory channels as there are pairs of members, one signal
// and one wait through each. They are done by one thread, as the executor does (handleMultiSignal,
// execution_kernel.hpp), or by one thread for each channel, as kernels of our own do.
#pragma once

#include "ir/program.h"

namespace mscclc::ir {

/// True if some thread block signals or waits through a switch channel.
bool hasSwitchSignals(const Program &program);

/// Who does the signals that a signal through the switch is spelled out as.
enum class SpelledBy : std::uint8_t { OneThread, ThreadEach };

/// `program` with signals to each member in place of those through the switch. Channels that this adds stand behind the
/// ranks' own memory channels (Rank::switchSignals). Operations may have other numbers.
Program spellOutSwitchSignals(const Program &program, SpelledBy by);

} // namespace mscclc::ir
