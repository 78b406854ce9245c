// Which sync a neighbour makes redundant: half of fusion, which decides both in one walk (fuse.h).
#pragma once

#include "ir/program.h"

namespace mscclc::passes {

/// What becomes of the sync between two neighbours.
enum class SyncEdit : std::uint8_t { None, DropLeft, DropRight, LeftAsksNotAfter, RightAsksNotBefore };

/// The walk decides about a sync before it sees what else merges into the operation after it, as the DSL does. So what
/// an earlier run left before an operation that may have been merged from several stays, or the output would not be
/// what the pass makes of it again.
class SyncElision {
public:
  /// `lowered`: no operation asks for sync; nops say it all.
  explicit SyncElision(bool lowered) : lowered_(lowered) {}

  /// False if such neighbours never spare each other a sync.
  static bool mayEdit(const ir::Op &left, const ir::Op &right);

  /// The sync that an operation brings at its start and its end; of a pipeline that of its body's ends: see `ofBody`.
  static ir::DataSync syncOf(const ir::Op &op);
  /// That of the body [first, end) of `block`, whose last operation has become `last`.
  ir::DataSync ofBody(const ir::ThreadBlock &block, std::uint32_t first, std::uint32_t end, const ir::Op &last) const;

  /// What becomes of the sync between `left`, which brings `leftSync`, and operation `right` of `block`, which brings
  /// `rightSync`. The walk ends at `end`.
  SyncEdit between(const ir::Op &left, ir::DataSync leftSync, const ir::ThreadBlock &block, std::uint32_t right,
                   ir::DataSync rightSync, std::uint32_t end) const;

private:
  bool mergedBefore(const ir::ThreadBlock &block, const ir::Op &op) const;
  bool parts(const ir::ThreadBlock &block, std::uint32_t index, std::uint32_t end) const;

  const bool lowered_;
};

} // namespace mscclc::passes
