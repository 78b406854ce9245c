// Finds the reason for each sync of a program: the accesses that would have no order without it.
//
// The program may come from statements, from calls of thread blocks, or from a plan. Its run is recorded
// (run_record.h). Then one class of syncs after the other is left out, and the record tells which accesses have no
// order without it (needed_sync.h). A class has the syncs at the same place of equivalent ranks, so they have the same
// reason.
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
std::string_view keyOf(Reason reason);  ///< Returns "read-too-early", ….
std::string_view textOf(Reason reason); ///< Returns the text with {0} to {4}; see sync_reasons.def.
/// True for reasons that say that no two accesses need the sync.
bool isNone(Reason reason);
/// True for a reason of isNone() that is only a guess: the proof was not asked, and may need the sync.
bool isUnknown(Reason reason);

/// A sync: the sending and the waiting operation. For a barrier, the first and the last of its blocks.
/// For sync within one block, the same operation twice.
struct SyncEdge {
  ir::OpRef from, to;
};

/// The origin of an access to memory.
struct Accessor {
  ir::OpRef at;        ///< its place; names no operation if it is the user of the rank
  bool isUser = false; ///< true for the user of the rank, between launches
  bool isPort = false; ///< true for the proxy of a port, which reads and writes after the block has requested it
};

/// A sync with its reason.
struct SyncReason {
  std::vector<SyncEdge> edges; ///< one or more, in the order of the program
  Reason reason = Reason::OnlyInTheWay;
  // For most reasons: two accesses that need it.
  Accessor first, second;
  ir::MemoryPiece memory; ///< memory that both access; size 0: none
  bool together = false;  ///< each point alone could be dropped, but not all points of the statement together
  std::string finding;    ///< for Reason::Proof: the finding of the proof without it
};

/// Returns the reason for each sync of `program`, in the order of the program. Returns nothing if some block waits for
/// ever, or if the program is too large to examine. `allowed`: findings of the proof that are only warnings.
///
/// If no two accesses of the run need a sync, the proof is made without it. This is done for at most eight groups of
/// similar syncs, and only if the program is proven as it is.
///
/// Requires: thread blocks, lowered data sync. Each class takes a walk through the operations between the accesses that
/// need it. If ranks are equivalent and there are many pairs of accesses, one rank represents all, so the time is about
/// that of prune-sync. If no ranks are equivalent, it takes up to syncs × operations.
std::optional<std::vector<SyncReason>> reasonsOfSync(const ir::Program &program, const ir::AllowedNames &allowed);

} // namespace mscclc::passes::prune
