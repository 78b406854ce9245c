#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Moves the flush of a block's last port puts to the end of the block, after its waits. A proxy serves one request
/// after another, and a flush keeps it busy until the put has left. So without this pass, the puts of several blocks of
/// a rank would leave one after another.
///
/// Example: `pwsf port [0] remote0[0:1] <- input[0:1]; wait port [1]` becomes `pws port [0] …; wait port [1]; flush
/// port [0]`.
///
/// Only waits, acquires and nops may follow the puts. So no later operation of the block relies on the flush. Only the
/// end of the launch does.
///
/// Runs before prune-sync, so that candidates are timed with deferred flushes. Provides: nothing. Running it again
/// changes nothing.
Pass createDeferFlushPass();

} // namespace mscclc::passes
