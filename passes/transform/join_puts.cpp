#include "passes/transform/join_puts.h"

#include "passes/op_list.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace mscclc::passes {
namespace {

using ir::Op;
using ir::OpKind;

/// True if `op` is a put through a port that the whole block does, with as many sources as destinations.
bool isPut(const Op &op) {
  return op.channelType == ir::ChannelType::Port && op.groupSize == 0 && op.numSrcs == op.numDsts &&
         (op.kind == OpKind::Put || op.kind == OpKind::PutWithSignal || op.kind == OpKind::PutWithSignalAndFlush);
}

/// True if the sources and destinations of `next` directly follow those of `put` in memory.
bool continues(const ir::ThreadBlock &block, const Op &put, const Op &next) {
  return put.kind == OpKind::Put && isPut(put) && isPut(next) &&
         std::ranges::equal(block.idsOf(put), block.idsOf(next)) &&
         std::ranges::equal(block.operands(put), block.operands(next), [](const ir::Chunk &a, const ir::Chunk &b) {
           return a.space == b.space && a.id == b.id && a.index + a.size == b.index;
         });
}

void joinPuts(PassContext &context) {
  std::uint64_t joined = 0;
  std::vector<std::uint32_t> gone;
  for (ir::Rank &rank : context.program.ranks)
    for (ir::ThreadBlock &block : rank.blocks) {
      gone.clear();
      for (std::uint32_t i = 0; i < block.ops.size(); i = nextOp(block, i)) {
        if (i + 1 == block.ops.size() || !continues(block, block.ops[i], block.ops[i + 1]))
          continue;
        // The later put also takes the chunks of the earlier one.
        const std::span<const ir::Chunk> before = std::as_const(block).operands(block.ops[i]);
        const std::span<ir::Chunk> all = block.operands(block.ops[i + 1]);
        for (std::size_t c = 0; c < all.size(); ++c) {
          all[c].index = before[c].index;
          all[c].size += before[c].size;
        }
        gone.push_back(i);
      }
      joined += gone.size();
      removeOps(block, gone);
    }
  context.stats.count("puts joined", joined);
}

} // namespace

Pass createJoinPutsPass() {
  return {.needs = Scheduled | DataSyncLowered | SingleInstance, .isOptional = true, .run = joinPuts};
}

} // namespace mscclc::passes
