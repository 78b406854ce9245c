#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Makes the program fit the executor.
/// - Splits operations with more channels, semaphores or chunks than its fixed arrays, or the threads of a block, can
///   take. A nop is added where one part needs the result of another. Also splits operations that it does only one by
///   one.
/// - Names chunks of an in-place collective's smaller buffer by the larger one, if the executor only finds them so.
/// - Adds a thread block to a rank without one.
/// - Adds chunks to double scratch so that its halves are aligned.
/// - Sets the largest message that the executor takes, if the program has no limit.
///
///
/// Refuses what cannot fit: too many operations, channels or remote buffers in a block, barriers on a rank, threads, or
/// bytes beyond an offset or in reused scratch.
///
/// Requires: lowered data sync and a single instance, because it counts what the plan will hold.
/// Provides: the program is within all limits of the target. Running it again changes nothing.
Pass createFitExecutorPass();

} // namespace mscclc::passes
