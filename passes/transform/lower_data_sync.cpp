#include "passes/transform/lower_data_sync.h"

#include "passes/op_list.h"

#include <algorithm>

namespace mscclc::passes {
namespace {

/// Collects the nops that `block` needs, and clears the sync of its operations.
void collect(ir::ThreadBlock &block, std::vector<NopInsertion> &nops) {
  std::uint32_t header = noPipeline, bodyEnd = 0;
  for (std::uint32_t i = 0; i < block.ops.size(); ++i) {
    ir::Op &op = block.ops[i];
    if (op.kind == ir::OpKind::Pipeline) {
      header = i;
      bodyEnd = nextOp(block, i);
    } else if (i >= bodyEnd) {
      header = noPipeline;
    }
    if (op.sync == ir::DataSync::None)
      continue;
    if (ir::has(op.sync, ir::DataSync::Before))
      nops.push_back({i, header, op.loc});
    if (ir::has(op.sync, ir::DataSync::After))
      nops.push_back({i + 1, header, op.loc});
    op.sync = ir::DataSync::None;
  }
}

void lowerDataSync(PassContext &context) {
  std::uint64_t inserted = 0;
  std::vector<NopInsertion> nops;
  for (ir::Rank &rank : context.program.ranks)
    for (ir::ThreadBlock &block : rank.blocks) {
      nops.clear();
      collect(block, nops);
      insertNops(block, nops);
      inserted += nops.size();
    }
  context.stats.count("nops inserted", inserted);
}

} // namespace

bool isDataSyncLowered(const ir::Program &program) {
  const auto asks = [](const ir::Op &op) { return op.sync != ir::DataSync::None; };
  return program.movement.statements.empty() && std::ranges::none_of(program.ranks, [&](const ir::Rank &rank) {
           return std::ranges::any_of(
               rank.blocks, [&](const ir::ThreadBlock &block) { return std::ranges::any_of(block.ops, asks); });
         });
}

Pass createLowerDataSyncPass() {
  return {.needs = Scheduled, .provides = DataSyncLowered, .isProvided = isDataSyncLowered, .run = lowerDataSync};
}

} // namespace mscclc::passes
