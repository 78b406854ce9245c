// The phases of a thread block: its operations between two syncs of all its threads.
#pragma once

#include "ir/op_semantics.h"

namespace mscclc::passes {

/// True if a new phase of the block begins with `op`: the operation is a sync, or asks for a sync before itself.
constexpr bool beginsPhase(const ir::Op &op) {
  return ir::isBlockSync(op.kind) || ir::has(op.sync, ir::DataSync::Before);
}
/// True if a new phase of the block begins after `op`: the operation asks for a sync after itself.
constexpr bool endsPhase(const ir::Op &op) {
  return ir::has(op.sync, ir::DataSync::After);
}

/// Counts the phases of a block while a caller walks through its operations in order.
class PhaseCount {
public:
  explicit PhaseCount(std::uint64_t first) : phase_(first) {}

  /// Enters `op`, and returns the phase in which it runs.
  std::uint64_t enter(const ir::Op &op) { return phase_ += beginsPhase(op); }
  /// Leaves `op`. A following operation may be in the next phase.
  void leave(const ir::Op &op) { phase_ += endsPhase(op); }

private:
  std::uint64_t phase_;
};

} // namespace mscclc::passes
