#include "passes/transform/lower_data_sync.h"

#include "ir/cursor.h"
#include "passes/op_list.h"

#include <algorithm>

namespace mscclc::passes {
namespace {

/// Appends to `nops` the nops that replace the sync of the operations of `block`. Clears this sync.
void collect(ir::ThreadBlock &block, std::vector<NopInsertion> &nops) {
  ir::forEachOp(block, [&](std::uint32_t i, std::uint32_t header) {
    ir::Op &op = block.ops[i];
    if (ir::has(op.sync, ir::DataSync::Before))
      nops.push_back({i, header, op.loc});
    if (ir::has(op.sync, ir::DataSync::After))
      nops.push_back({i + 1, header, op.loc});
    op.sync = ir::DataSync::None;
  });
}

void lowerDataSync(PassContext &context) {
  std::uint64_t inserted = 0;
  std::vector<NopInsertion> nops;
  for (ir::ThreadBlock &block : ir::blocksOf(context.program.ranks)) {
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
  return program.movement.statements.empty() && std::ranges::none_of(ir::opsOf(program.ranks), asks);
}

Pass createLowerDataSyncPass() {
  return {.needs = Scheduled, .provides = DataSyncLowered, .isProvided = isDataSyncLowered, .run = lowerDataSync};
}

} // namespace mscclc::passes
