#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Lets slots of scratch share a place, and drops unused slots. A slot is a unit of scratch that statements use as a
/// whole: one that place has made, or a piece of a Buffer. Each slot takes the first place where, on every rank, all
/// uses of earlier slots are over before the slot's own first write begins.
///
/// Example: rank 1 writes slot A of rank 0. Rank 0 reads A and sends a result to rank 1. Rank 1 uses the result to
/// write slot B of rank 0. So the read of A is over when B is written, and B can take the place of A.
///
/// No sync is added for that. A use is over if a path of dependences leads from it to the write through other blocks.
/// The sync of such dependences covers everything that a block did before, and passes never drop it. Between launches,
/// scratch is ordered as a whole, so the use of its parts does not matter (launches.h).
///
/// Slots that share a place have the same size. The slots of a rank are numbered in the order of their first writes.
/// Ranks whose slots have the same sizes in this order arrange their places in the same way: two slots share only if
/// they may on each of these ranks. A program with double scratch or packets stays unchanged, because a slot of packets
/// is used once in each launch. A program also stays unchanged if places in scratch overlap without being equal, or if
/// it accesses scratch through the switch. If there are too many slots to compare, no slots share a place.
///
/// This pass comes after cut, because the blocks determine which uses are over. It comes before synchronise, which
/// plans sync for the final places. The dependences that sharing adds already follow from other dependences, so sharing
/// adds no sync.
///
/// Requires: placed, ordered and cut statements.
Pass createShareScratchPass();

} // namespace mscclc::passes
