#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Makes the program fit the executor. Operations with too many channels, semaphores or chunks for its fixed arrays or
/// for the threads of a block become several that mean the same, with nops where one needs another's result; so do
/// those that it does only one by one. Chunks of an in-place collective's smaller buffer are named by the larger one
/// where the executor finds them only so. A rank without thread blocks gets one. Double
/// scratch gets chunks enough that its halves are aligned. Where the program states no largest
/// message, the largest that the executor takes is stated. What cannot be made to fit (too many operations, channels or
/// remote buffers in a block, barriers on a rank, threads, bytes beyond an offset or in reused scratch) is refused.
///
/// Requires: lowered data sync and a single instance: it counts what the plan will hold.
/// Provides: no limit of the target is passed. Running it again changes nothing.
Pass createFitExecutorPass();

} // namespace mscclc::passes
