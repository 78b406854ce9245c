// Finds sync that becomes redundant by sync of a neighbour. This is one half of fusion (fuse.h); the other half merges
// operations. Both happen in one walk.
#pragma once

#include "ir/program.h"

namespace mscclc::passes {

/// The change to the sync between two neighbours.
enum class SyncEdit : std::uint8_t { None, DropLeft, DropRight, LeftAsksNotAfter, RightAsksNotBefore };

/// Decides which syncs between neighbours are redundant. As in the DSL, it decides about a sync before later operations
/// are merged into the operation behind this sync. When the pass runs again, that operation may already be merged, and
/// the decision could differ. So sync in front of a merged operation is kept. This way, a second run changes nothing.
class SyncElision {
public:
  /// `lowered`: nops express all sync, and no operation carries sync.
  explicit SyncElision(bool lowered) : lowered_(lowered) {}

  /// False if neighbours such as `left` and `right` never make each other's sync redundant.
  static bool mayEdit(const ir::Op &left, const ir::Op &right);

  /// Returns the sync at the start and at the end of an operation that is not a pipeline. For a pipeline, see ofBody().
  static ir::DataSync syncOf(const ir::Op &op);
  /// Returns the sync at the start and at the end of a pipeline's body, the operations [first, end) of `block`. `last`:
  /// the last operation of the body after merging.
  ir::DataSync ofBody(const ir::ThreadBlock &block, std::uint32_t first, std::uint32_t end, const ir::Op &last) const;

  /// Returns the change to the sync between `left` and the operation of `block` with index `right`. `leftSync` and
  /// `rightSync`: the sync of these two operations. The walk ends at index `end`.
  SyncEdit between(const ir::Op &left, ir::DataSync leftSync, const ir::ThreadBlock &block, std::uint32_t right,
                   ir::DataSync rightSync, std::uint32_t end) const;

private:
  bool mergedBefore(const ir::ThreadBlock &block, const ir::Op &op) const;
  bool parts(const ir::ThreadBlock &block, std::uint32_t index, std::uint32_t end) const;

  const bool lowered_;
};

} // namespace mscclc::passes
