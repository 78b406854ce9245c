#include "passes/transform/defer_flush.h"

#include "ir/op_semantics.h"
#include "passes/op_list.h"

#include <optional>
#include <vector>

namespace mscclc::passes {
namespace {

using ir::Op;
using ir::OpKind;

/// Returns the index of the block's last port put with a flush, if only waits, acquires and nops follow it. Returns
/// nothing if there is no such put, or if it is the last operation.
std::optional<std::size_t> lastPut(const ir::ThreadBlock &block) {
  std::size_t last = block.ops.size();
  while (last != 0 && (ir::takes(block.ops[last - 1].kind) || block.ops[last - 1].kind == OpKind::Nop))
    --last;
  if (last == 0 || last == block.ops.size() || block.ops[last - 1].kind != OpKind::PutWithSignalAndFlush)
    return std::nullopt;
  return last - 1;
}

void deferFlushes(PassContext &context) {
  std::uint64_t deferred = 0;
  for (ir::Rank &rank : context.program.ranks)
    for (ir::ThreadBlock &block : rank.blocks)
      if (const std::optional<std::size_t> put = lastPut(block); put && pipelineAround(block, *put) == noPipeline) {
        Op &op = block.ops[*put];
        op.kind = OpKind::PutWithSignal;
        const auto ids = block.idsOf(op);
        const std::vector<std::uint32_t> channels(ids.begin(), ids.end());
        block.append({.kind = OpKind::Flush, .channelType = ir::ChannelType::Port, .loc = op.loc}, {}, {}, channels);
        ++deferred;
      }
  context.stats.count("flushes deferred", deferred);
}

} // namespace

Pass createDeferFlushPass() {
  return {.needs = Scheduled | DataSyncLowered, .isOptional = true, .run = deferFlushes};
}

} // namespace mscclc::passes
