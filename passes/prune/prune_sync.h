#pragma once

#include "passes/pass.h"

#include <functional>

namespace mscclc::passes {

/// Proves a program that a pass would make. True if nothing is found, be it a warning.
using Prover = std::function<bool(const ir::Program &)>;

/// Drops sync that the proof (passes/verify) does not need: nops, flushes, barriers with all their parts, signals with
/// their waits, releases with their acquires. What corresponds over ranks that are alike goes together or stays, so
/// ranks stay alike. A signal that a put brings along stays, and so does what meets
/// at a counter that several blocks use or that does not start at zero.
///
/// A run of the program is written down once: what waits for what, and which accesses have to be in order. From that
/// follows what can go (run_record.h, needed_sync.h). The result is proven; where that fails, what the proof does need
/// is found by halves, and kept. So nothing is left that could go, unless more than 24 proofs are needed to find it. A
/// program that is not proven stays as it is, and so does one whose run is too long to write down.
///
/// `prover`, unless it is empty, is asked first, once: most often all that the run shows can go, and whoever proves the
/// program after the passes proves it once then, as half of the cost is that proof.
///
/// Requires: lowered data sync, or sync yet to come would be missed. Runs last of the passes that change sync, and
/// before replicate-instances: all instances need the same, and where they meet in scratch two are proven.
/// Provides: nothing. Running it again changes nothing.
Pass createPruneSyncPass(Prover prover);
/// The same without a prover.
Pass createPruneSyncPass();

} // namespace mscclc::passes
