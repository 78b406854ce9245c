// Sync that is needed at a glance: on each way by which two accesses are in order, there is the same orbit.
#pragma once

#include "passes/run/sync_record.h"

namespace mscclc::passes::prune {

/// For each piece, by the first of its orbit: true if two accesses of `record` are in no order without the orbit. It
/// does not find all, but many at once: what is known at one access is walked back once, and
/// each moment on the walk keeps orbits that all ways to it go through. So what is left for SyncSearch, which walks
/// anew for each orbit, is little in programs where everyone tells everyone.
std::vector<bool> onSoleWays(const SyncRecord &record, const SyncOrbits &orbits, std::size_t pieces);

} // namespace mscclc::passes::prune
