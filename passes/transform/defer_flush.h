#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Lets a block flush its last port puts at its end, after its waits. A proxy serves one request after the other, and a
/// flush holds it until the put has left. So puts of several blocks of a rank would leave one after the other.
///
/// Example: `pwsf port [0] remote0[0:1] <- input[0:1]; wait port [1]` becomes `pws port [0] …; wait port [1]; flush
/// port [0]`.
///
/// Only waits, acquires and nops may follow the puts. So nothing that the block does later may rely on the flush, but
/// the end of the launch does.
///
/// Runs before prune-sync, so that candidates are timed with it. Provides: nothing. Running it again changes nothing.
Pass createDeferFlushPass();

} // namespace mscclc::passes
