#include "passes/transform/split_waits.h"

#include "ir/cursor.h"
#include "ir/op_semantics.h"
#include "passes/analysis/exclusive_waits.h"

#include <algorithm>
#include <utility>

namespace mscclc::passes {
namespace {

bool waitsOnSeveral(const ir::Op &op) {
  return op.numIds > 1 && ir::takes(op.kind);
}

/// Splits the waits in `block` that need it. Returns the number of operations that were split.
std::uint64_t splitIn(ir::ThreadBlock &block, ExclusiveWaits &waits) {
  if (std::ranges::none_of(block.ops, waitsOnSeveral))
    return 0;
  waits.start(block);
  const auto isSplit = [&](std::uint32_t o) { return waitsOnSeveral(block.ops[o]) && !waits.has(o); };
  std::uint64_t split = 0;
  std::size_t pieces = block.ops.size();
  for (std::uint32_t o = 0; o < block.ops.size(); ++o)
    if (isSplit(o)) {
      ++split;
      pieces += block.ops[o].numIds - 1;
    }
  if (split == 0)
    return 0;
  std::vector<ir::Op> ops;
  ops.reserve(pieces);
  ir::rewriteOps(block, ops, [&](std::uint32_t o) {
    ops.push_back(block.ops[o]);
    if (!isSplit(o))
      return;
    ops.back().numIds = 1;
    for (std::uint32_t i = 1; i < block.ops[o].numIds; ++i) {
      ops.push_back(ops.back());
      ++ops.back().firstId;
    }
  });
  block.ops = std::move(ops);
  return split;
}

void splitWaits(PassContext &context) {
  ExclusiveWaits waits;
  std::uint64_t split = 0;
  for (ir::ThreadBlock &block : ir::blocksOf(context.program.ranks))
    split += splitIn(block, waits);
  context.stats.count("waits split", split);
}

} // namespace

Pass createSplitWaitsPass() {
  return {.needs = Scheduled | DataSyncLowered, .run = splitWaits};
}

} // namespace mscclc::passes
