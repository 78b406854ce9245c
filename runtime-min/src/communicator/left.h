// Communicators that this process has left, but other processes have not. Those may continue to use its memory.
#pragma once

#include "communicator/communicator.h"

#include <memory>

namespace mscclc::rt {

/// Keeps `owner`, which owns `communicator`, until all processes have left. A thread waits for this and then releases
/// it. If the process exits earlier, its exit waits for the others, but at most as long as a set-up may take.
void keepUntilAllLeft(const Communicator &communicator, std::shared_ptr<const void> owner);

} // namespace mscclc::rt
