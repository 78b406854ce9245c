// Finds sync that a neighbour makes redundant. It is one half of fusion, which decides both in one walk (fuse.h).
#pragma once

#include "ir/program.h"

namespace mscclc::passes {

/// The change to the sync between two neighbours.
enum class SyncEdit : std::uint8_t { None, DropLeft, DropRight, LeftAsksNotAfter, RightAsksNotBefore };

/// Decides which syncs between neighbours are redundant. As in the DSL, the decision about a sync comes before later
/// operations are merged into the operation after the sync. When the pass runs again, this operation may be merged
/// already, and the decision could differ. So a sync before a merged operation stays, and a second run changes nothing.
class SyncElision {
public:
  /// `lowered`: no operation carries sync, because nops express it.
  explicit SyncElision(bool lowered) : lowered_(lowered) {}

  /// False if such neighbours never make each other's sync redundant.
  static bool mayEdit(const ir::Op &left, const ir::Op &right);

  /// Returns the sync of an operation at its start and its end. For a pipeline see `ofBody`.
  static ir::DataSync syncOf(const ir::Op &op);
  /// Returns the sync of the body [first, end) of `block` at its ends. `last`: its last operation after merging.
  ir::DataSync ofBody(const ir::ThreadBlock &block, std::uint32_t first, std::uint32_t end, const ir::Op &last) const;

  /// Returns the change to the sync between `left` and operation `right` of `block`, which have `leftSync` and
  /// `rightSync`. The walk ends at `end`.
  SyncEdit between(const ir::Op &left, ir::DataSync leftSync, const ir::ThreadBlock &block, std::uint32_t right,
                   ir::DataSync rightSync, std::uint32_t end) const;

private:
  bool mergedBefore(const ir::ThreadBlock &block, const ir::Op &op) const;
  bool parts(const ir::ThreadBlock &block, std::uint32_t index, std::uint32_t end) const;

  const bool lowered_;
};

} // namespace mscclc::passes
