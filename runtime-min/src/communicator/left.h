// Communicators that this process has left, but other processes have not. Those may continue to use its memory.
#pragma once

#include "communicator/communicator.h"

#include <memory>

namespace mscclc::rt {

/// Keeps `owner`, which owns `communicator`, until all processes have left, and lets go of it on a thread that waits
/// for this. A process that exits before waits for them, for no longer than a set-up may take; what is left then ends
/// with it.
void keepUntilAllLeft(const Communicator &communicator, std::shared_ptr<const void> owner);

} // namespace mscclc::rt
