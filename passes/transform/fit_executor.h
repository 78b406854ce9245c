#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Makes the program fit the executor.
/// - Splits operations that have more channels, semaphores or chunks than the executor's fixed arrays, or the threads
///   of a block, can take. Adds a nop where one part needs the result of another. Also splits operations on several
///   chunks that the executor only does correctly one by one.
/// - Renames chunks of an in-place collective's smaller buffer as chunks of the larger buffer, if the executor finds
///   the right memory only by this name.
/// - Adds a thread block to each rank that has none.
/// - Adds chunks to double scratch so that its halves are aligned.
/// - Sets the largest message that the executor takes, if the program has no limit.
///
/// Refuses what cannot fit: too many operations, channels or remote buffers in a block, too many barriers on a rank,
/// too many threads, or too many bytes for an offset or for reused scratch.
///
/// Requires: lowered data sync and a single instance, because the pass counts what the plan will contain.
/// Provides: the program is within all limits of the target. Running it again changes nothing.
Pass createFitExecutorPass();

} // namespace mscclc::passes
