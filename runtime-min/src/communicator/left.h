// Communicators that this process has left while other processes have not. The others may still use the memory of this
// process.
#pragma once

#include "communicator/communicator.h"

#include <memory>

namespace mscclc::rt {

/// Keeps `owner`, which owns `communicator`, until all processes have left. A thread waits for this, and then releases
/// `owner`. If the process exits earlier, its exit waits for the other processes, but at most for the set-up timeout.
void keepUntilAllLeft(const Communicator &communicator, std::shared_ptr<const void> owner);

} // namespace mscclc::rt
