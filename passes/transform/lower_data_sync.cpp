#include "passes/transform/lower_data_sync.h"

#include "passes/op_list.h"

namespace mscclc::passes {
namespace {

/// Collects the nops that `block` asks for, and settles the requests.
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

Pass createLowerDataSyncPass() {
  return {.needs = Scheduled, .provides = DataSyncLowered, .run = lowerDataSync};
}

} // namespace mscclc::passes
