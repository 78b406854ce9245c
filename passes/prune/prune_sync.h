#pragma once

#include "passes/pass.h"

#include <functional>

namespace mscclc::passes {

/// A function that proves the program that a pass would make. It returns true if the proof has no findings, not even
/// warnings.
using Prover = std::function<bool(const ir::Program &)>;

/// Drops sync that the proof (passes/verify) does not need: nops, flushes, whole barriers, signals with their waits,
/// and releases with their acquires. Sync at the same place of equivalent ranks is dropped or kept together, so that
/// these ranks stay equivalent. A signal that is part of a put is kept. Sync on a counter is kept if several blocks use
/// the counter, or if the counter does not start at zero. A nop before a put or flush of several ports is kept, too:
/// the proof does not need it, but without it the puts take longer.
///
/// The pass records one run of the program: its waits, and the accesses that must be ordered. The record shows which
/// sync can be dropped (run_record.h, needed_sync.h). Then the program without this sync is proven. If the proof fails,
/// the pass finds the sync that the proof needs by bisection, and keeps it. So no unneeded sync is left, unless the
/// search would take more than 24 proofs. The program is not changed if it cannot be proven, or if its run is too long
/// to record.
///
/// If `prover` is not empty, it is asked first, but only once: about the program without all sync that the record does
/// not need. It usually accepts this program. Its proof is half of the pass's cost, and the caller can use the result
/// instead of another proof after the passes.
///
/// Requires: lowered data sync; otherwise sync that is added later would be missed. Runs after all other passes that
/// change sync. Runs before replicate-instances, because all instances need the same sync. If instances may conflict in
/// scratch, a program of two instances is proven.
/// Provides: nothing. Running it again changes nothing.
Pass createPruneSyncPass(Prover prover);
/// Creates the pass without a prover.
Pass createPruneSyncPass();
/// Creates the pass that relies on the record alone. It may drop sync that the proof needs, so its result must not run
/// before it is proven.
Pass createUnprovenPruneSyncPass();

} // namespace mscclc::passes
