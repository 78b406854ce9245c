#include "passes/transform/elide_sync.h"

#include "ir/op_semantics.h"

#include <array>

namespace mscclc::passes {

using ir::DataSync;
using ir::Op;
using ir::OpKind;

namespace {

/// The role of an operation in synchronisation.
enum class SyncRole : std::uint8_t {
  Other,
  Nop,
  Barrier,
  Asks, ///< an operation that may carry a DataSync
  Loop, ///< a pipeline; it has sync before or after if its body begins or ends with sync
};
inline constexpr std::size_t syncRoleCount = 5;

enum class SyncWhen : std::uint8_t { Always, RightSyncsBefore, LeftSyncsAfter };

struct SyncRule {
  SyncRole left, right;
  SyncEdit edit;
  SyncWhen when;
};

inline constexpr auto syncRules = [] {
  using enum SyncRole;
  using enum SyncWhen;
  using enum SyncEdit;
  return std::to_array<SyncRule>({
      {Nop, Nop, DropRight, Always},
      {Nop, Barrier, DropLeft, Always},
      {Nop, Loop, DropLeft, RightSyncsBefore},
      {Nop, Asks, RightAsksNotBefore, Always},
      {Barrier, Nop, DropRight, Always},
      {Barrier, Asks, RightAsksNotBefore, Always},
      {Asks, Nop, LeftAsksNotAfter, Always},
      {Asks, Barrier, LeftAsksNotAfter, Always},
      {Asks, Asks, LeftAsksNotAfter, RightSyncsBefore},
      {Asks, Loop, LeftAsksNotAfter, RightSyncsBefore},
      {Loop, Nop, DropRight, LeftSyncsAfter},
      {Loop, Asks, RightAsksNotBefore, LeftSyncsAfter},
  });
}();

/// The rule for each left and right role. If there is no rule, its edit is None.
inline constexpr auto syncTable = [] {
  std::array<std::array<SyncRule, syncRoleCount>, syncRoleCount> table{};
  for (const SyncRule &rule : syncRules)
    table[std::size_t(rule.left)][std::size_t(rule.right)] = rule;
  return table;
}();

constexpr const SyncRule &syncRule(SyncRole left, SyncRole right) {
  return syncTable[std::size_t(left)][std::size_t(right)];
}

SyncRole syncRoleOf(OpKind kind) {
  switch (ir::info(kind).step) {
  case ir::OpStep::BlockSync:
    return SyncRole::Nop;
  case ir::OpStep::Barrier:
    return SyncRole::Barrier;
  case ir::OpStep::Give:
  case ir::OpStep::Take:
  case ir::OpStep::Drain:
    return SyncRole::Asks;
  case ir::OpStep::Data:
    return SyncRole::Other;
  case ir::OpStep::Loop:
    return SyncRole::Loop;
  }
  return SyncRole::Other;
}

} // namespace

bool SyncElision::mayEdit(const Op &left, const Op &right) {
  const SyncRule &rule = syncRule(syncRoleOf(left.kind), syncRoleOf(right.kind));
  switch (rule.edit) {
  case SyncEdit::None:
    return false;
  case SyncEdit::DropLeft:
  case SyncEdit::DropRight:
    return true;
  case SyncEdit::LeftAsksNotAfter:
    return ir::has(left.sync, DataSync::After) &&
           (rule.when == SyncWhen::Always || ir::has(right.sync, DataSync::Before));
  case SyncEdit::RightAsksNotBefore:
    return ir::has(right.sync, DataSync::Before);
  }
  return false;
}

DataSync SyncElision::syncOf(const Op &op) {
  return ir::isBlockSync(op.kind) ? DataSync::Both : op.sync;
}

/// True if an earlier run may have merged `op` from several operations. If sync is lowered, this includes every flush,
/// because merged flushes of one channel look like one flush.
bool SyncElision::mergedBefore(const ir::ThreadBlock &block, const Op &op) const {
  return ir::hasDataSync(op.kind) && (block.idsOf(op).size() > 1 || (op.kind == OpKind::Flush && lowered_));
}

/// True if operation `index` is a nop in front of an operation for which mergedBefore() is true.
bool SyncElision::parts(const ir::ThreadBlock &block, std::uint32_t index, std::uint32_t end) const {
  return block.ops[index].kind == OpKind::Nop && index + 1 < end && mergedBefore(block, block.ops[index + 1]);
}

DataSync SyncElision::ofBody(const ir::ThreadBlock &block, std::uint32_t first, std::uint32_t end,
                             const Op &last) const {
  // As in the DSL, a neighbour of the pipeline sees the body's first operation in the form before merging.
  const bool stays = parts(block, first, end) || mergedBefore(block, block.ops[first]);
  const DataSync before = stays ? DataSync::None : syncOf(block.ops[first]);
  return (before & DataSync::Before) | (syncOf(last) & DataSync::After);
}

SyncEdit SyncElision::between(const Op &left, DataSync leftSync, const ir::ThreadBlock &block, std::uint32_t right,
                              DataSync rightSync, std::uint32_t end) const {
  const Op &next = block.ops[right];
  const SyncRule &rule = syncRule(syncRoleOf(left.kind), syncRoleOf(next.kind));
  if (rule.edit == SyncEdit::None || mergedBefore(block, next) || parts(block, right, end))
    return SyncEdit::None;
  switch (rule.when) {
  case SyncWhen::Always:
    return rule.edit;
  case SyncWhen::RightSyncsBefore:
    return ir::has(rightSync, DataSync::Before) ? rule.edit : SyncEdit::None;
  case SyncWhen::LeftSyncsAfter:
    return ir::has(leftSync, DataSync::After) ? rule.edit : SyncEdit::None;
  }
  return SyncEdit::None;
}

} // namespace mscclc::passes
