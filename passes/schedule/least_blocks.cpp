#include "passes/schedule/least_blocks.h"

#include <algorithm>
#include <vector>

namespace mscclc::passes::schedule {
namespace {

/// False if no rule of fusion_rules.h merges what becomes of two neighbours: copies and packets that are unpacked stay
/// alone; a reduction merges into one before it that reduces into the same place.
bool mayMerge(const ir::Movement &movement, const ir::Move &left, const ir::Move &right) {
  const auto isLocalCopy = [](const ir::Move &statement) {
    return statement.kind == ir::MoveKind::Copy && !statement.via;
  };
  if (isLocalCopy(left) || isLocalCopy(right))
    return false;
  if (right.kind != ir::MoveKind::Reduce)
    return true;
  return left.kind == ir::MoveKind::Reduce && right.via != ir::Via::Switch && left.via == right.via &&
         left.packets == right.packets && movement.dsts(left)[0] == movement.dsts(right)[0];
}

} // namespace

LeastBlocks leastBlocks(const ir::Movement &movement) {
  struct Block {
    const ir::Move *last = nullptr;
    std::uint64_t operations = 0;
  };
  struct Rank {
    std::vector<Block> blocks;
    std::uint64_t busy = 0;
  };
  std::vector<Rank> ranks;
  LeastBlocks least;
  for (const ir::Move &statement : movement.statements) {
    if (ranks.size() <= *statement.by)
      ranks.resize(*statement.by + 1);
    Rank &rank = ranks[*statement.by];
    if (rank.blocks.size() <= *statement.block)
      rank.blocks.resize(*statement.block + 1);
    Block &block = rank.blocks[*statement.block];
    if (!block.last)
      least.blocks = std::max(least.blocks, ++rank.busy);
    if (!block.last || !mayMerge(movement, *block.last, statement))
      least.operations = std::max(least.operations, ++block.operations);
    block.last = &statement;
  }
  return least;
}

} // namespace mscclc::passes::schedule
