#include "passes/transform/split_waits.h"

#include "ir/op_semantics.h"
#include "passes/analysis/exclusive_waits.h"

#include <algorithm>
#include <utility>

namespace mscclc::passes {
namespace {

bool waitsOnSeveral(const ir::Op &op) {
  return op.numIds > 1 && ir::takes(op.kind);
}

/// Splits waits in `block`. Returns the number of operations that were split.
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
  std::uint32_t header = 0, bodyEnd = 0;
  for (std::uint32_t o = 0; o < block.ops.size(); ++o) {
    const ir::Op &op = block.ops[o];
    if (op.kind == ir::OpKind::Pipeline) {
      header = static_cast<std::uint32_t>(ops.size());
      bodyEnd = o + 1 + op.bodySize;
    }
    ops.push_back(op);
    if (!isSplit(o))
      continue;
    ops.back().numIds = 1;
    for (std::uint32_t i = 1; i < op.numIds; ++i) {
      ops.push_back(ops.back());
      ++ops.back().firstId;
    }
    if (o < bodyEnd)
      ops[header].bodySize += op.numIds - 1;
  }
  block.ops = std::move(ops);
  return split;
}

void splitWaits(PassContext &context) {
  ExclusiveWaits waits;
  std::uint64_t split = 0;
  for (ir::Rank &rank : context.program.ranks)
    for (ir::ThreadBlock &block : rank.blocks)
      split += splitIn(block, waits);
  context.stats.count("waits split", split);
}

} // namespace

Pass createSplitWaitsPass() {
  return {.needs = Scheduled | DataSyncLowered, .run = splitWaits};
}

} // namespace mscclc::passes
