// Where the phases of a thread block begin and end: its operations between two syncs of all its threads.
#pragma once

#include "ir/op_semantics.h"

namespace mscclc::passes {

/// True if the block's next phase begins with `op`: it is a sync, or asks for one before it.
constexpr bool beginsPhase(const ir::Op &op) {
  return ir::isBlockSync(op.kind) || ir::has(op.sync, ir::DataSync::Before);
}
/// True if the block's next phase begins after `op`: it asks for a sync there.
constexpr bool endsPhase(const ir::Op &op) {
  return ir::has(op.sync, ir::DataSync::After);
}

/// Counts the phases of a block while its operations are walked in order.
class PhaseCount {
public:
  explicit PhaseCount(std::uint64_t first) : phase_(first) {}

  /// The phase in which `op` runs.
  std::uint64_t enter(const ir::Op &op) { return phase_ += beginsPhase(op); }
  void leave(const ir::Op &op) { phase_ += endsPhase(op); }

private:
  std::uint64_t phase_;
};

} // namespace mscclc::passes
