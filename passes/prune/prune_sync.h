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
/// One run of the program is recorded: its waits, and the accesses that have to be in order. The record shows the sync
/// that can go (run_record.h, needed_sync.h). The result is proven. If this fails, the sync that the proof needs is
/// found by halves, and kept. So no unneeded sync is left, unless more than 24 proofs are needed to find it. A program
/// without a proof stays as it is. So does a program with a run that is too long to record.
///
/// `prover`, unless it is empty, is asked first, and only once. Mostly it accepts the program without all sync that the
/// record shows. Half of the cost is this proof, so the caller need not repeat it after the passes.
///
/// Requires: lowered data sync; otherwise sync that is added later would be missed. It runs last of the passes that
/// change sync. It runs before replicate-instances, because all instances need the same sync. If instances conflict in
/// scratch, two instances are proven.
/// Provides: nothing. Running it again changes nothing.
Pass createPruneSyncPass(Prover prover);
/// The same without a prover.
Pass createPruneSyncPass();

} // namespace mscclc::passes
