// Finds the reason for each sync of a program: two accesses that would have no order without the sync.
//
// The program may come from statements, from calls of thread blocks, or from a plan. Its run is recorded
// (run_record.h). Then each class of syncs is left out in turn, and the record shows which accesses have no order
// without the class (needed_sync.h). A class contains the syncs at the same place of equivalent ranks, so all of its
// syncs have the same reason.
#pragma once

#include "ir/diagnostics.h"
#include "ir/op_memory.h"
#include "ir/program.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mscclc::passes::prune {

enum class Reason : std::uint8_t {
#define REASON(kind, key, text) kind,
#include "passes/prune/sync_reasons.def"
};
std::string_view keyOf(Reason reason);  ///< Returns the key: "read-too-early".
std::string_view textOf(Reason reason); ///< Returns the text with the placeholders {0} to {4} of sync_reasons.def.
/// True if the reason says that no two accesses need the sync.
bool isNone(Reason reason);
/// True if the reason is one of isNone() but uncertain, because the proof was not asked. The proof may need the sync.
bool isUnknown(Reason reason);

/// A sync, from the sending to the waiting operation. For a barrier: from the operation of its first block to that of
/// its last block. For sync within one block, both are the same operation.
struct SyncEdge {
  ir::OpRef from, to;
};

/// The operation, or the user, that accesses memory.
struct Accessor {
  ir::OpRef at;        ///< place of the operation; for the user of a rank, it names no operation
  bool isUser = false; ///< true if the user of the rank makes the access, between launches
  bool isPort = false; ///< true if a port's proxy makes the access, after the block has requested it
};

/// A sync with its reason.
struct SyncReason {
  std::vector<SyncEdge> edges; ///< the syncs, at least one, in the order of the program
  Reason reason = Reason::OnlyInTheWay;
  // For most reasons: two accesses that need the sync.
  Accessor first, second;
  ir::MemoryPiece memory; ///< memory that both accesses touch; size 0: none
  bool together = false;  ///< true if each point could be dropped alone, but not all points of the statement together
  std::string finding;    ///< for Reason::Proof: the finding of the proof of the program without the sync
};

/// Returns the reason for each sync of `program`, in the order of the program. Returns nothing if some block waits
/// forever, or if the program is too large to examine. `allowed`: findings of the proof that are only warnings.
///
/// If no two accesses of the run need a sync, the program is proven without it. This is done for at most eight groups
/// of similar syncs, and only if the given program is proven.
///
/// Requires: thread blocks, lowered data sync. Each class takes one walk through the operations between the accesses
/// that need it. If there are many pairs of accesses and ranks are equivalent, one rank represents all of them, so the
/// time is about that of prune-sync. If no ranks are equivalent, it takes up to syncs × operations.
std::optional<std::vector<SyncReason>> reasonsOfSync(const ir::Program &program, const ir::AllowedNames &allowed);

} // namespace mscclc::passes::prune
