// Why each sync of a program is there: the accesses that would be in no order without it.
//
// The program may come from anywhere: from statements, from calls of thread blocks, or from a plan. The reason is found
// in what is left of it: its run is written down (run_record.h), and asked again without one orbit of syncs after the
// other (needed_sync.h). An orbit holds what stands at the same place of ranks that are alike, so all of its syncs have
// one reason.
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
std::string_view keyOf(Reason reason);  ///< "read-too-early"
std::string_view textOf(Reason reason); ///< with {0} to {4}; see sync_reasons.def
/// True of the reasons that are none: no two accesses need the sync.
bool isNone(Reason reason);
/// True of those that are none because the proof was not asked: it may need the sync.
bool isUnknown(Reason reason);

/// A sync: who tells, and who waits for it. Of a barrier, the first and the last of its blocks; of what concerns one
/// block, the same operation twice.
struct SyncEdge {
  ir::OpRef from, to;
};

/// Who accesses memory.
struct Accessor {
  ir::OpRef at;        ///< without operation, if it is the rank's user between launches
  bool isUser = false; ///< the rank's user
  bool isPort = false; ///< a port's proxy, which reads and writes later than the block that asks it
};

struct SyncReason {
  std::vector<SyncEdge> edges; ///< one or more, in the order of the program
  Reason reason = Reason::OnlyInTheWay;
  // Of a reason that is one: two accesses that need it.
  Accessor first, second;
  ir::MemoryPiece memory; ///< what both touch; nothing of size 0
  bool together = false;  ///< each alone could go; the reason is that of all of one statement
  std::string finding;    ///< of Reason::Proof: what the proof finds without it
};

/// The reason of each sync of `program`, in the order of the program. Nothing if some block waits for ever, or if the
/// program is too large to look at. `allowed`: findings of the proof that are warnings.
///
/// Where no two accesses of the run need a sync, the proof is made without it, of at most eight groups of alike syncs,
/// and only of a program that is proven as it is.
///
/// Requires: thread blocks, lowered data sync. Each orbit takes a walk over what happens between the accesses that need
/// it. Where ranks are alike and pairs of accesses are many, one rank's speak for all: so that takes about as long as
/// prune-sync. Where none are, it takes up to syncs × operations.
std::optional<std::vector<SyncReason>> reasonsOfSync(const ir::Program &program, const ir::AllowedNames &allowed);

} // namespace mscclc::passes::prune
