#pragma once

#include "passes/pass.h"

#include <functional>

namespace mscclc::passes {

/// Proves a program that a pass would make. Returns true if nothing is found, not even a warning.
using Prover = std::function<bool(const ir::Program &)>;

/// Drops sync that the proof (passes/verify) does not need: nops, flushes, whole barriers, signals with their waits,
/// and releases with their acquires. Corresponding sync of equivalent ranks is dropped or kept together, so ranks stay
/// equivalent. A signal that is part of a put stays. So does sync at a counter that several blocks use or that does not
/// start at zero.
///
/// A run of the program is written down once: what waits for what, and which accesses have to be in order. From that
/// follows what can go (run_record.h, needed_sync.h). The result is proven; where that fails, what the proof does need
/// is found by halves, and kept. So nothing is left that could go, unless more than 24 proofs are needed to find it. A
/// program that is not proven stays as it is, and so does one whose run is too long to write down.
///
/// `prover`, unless it is empty, is asked first, once: most often all that the run shows can go, and whoever proves the
/// program after the passes proves it once then, as half of the cost is that proof.
///
/// Requires: lowered data sync; otherwise sync that is added later would be missed. It runs last of the passes that
/// change sync. It runs before replicate-instances, because all instances need the same sync. If instances conflict in
/// scratch, two instances are proven.
/// Provides: nothing. Running it again changes nothing.
Pass createPruneSyncPass(Prover prover);
/// The same without a prover.
Pass createPruneSyncPass();

} // namespace mscclc::passes
